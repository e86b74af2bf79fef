import { misconfigured } from '../store-errors.js';
import { sqlState } from './postgres-errors.js';
import { type Query } from './postgres-session.js';
import { postgresMigrations, LAST_FUNCTION } from './schema.js';

const MIN_SERVER = 130_000;

const SERVER_STATE = `SELECT json_build_object(
  'version', current_setting('server_version_num')::int, 'isStandby', pg_is_in_recovery(), 'role', current_user, 'database', current_database(),
  'level', current_setting('transaction_isolation'),
  'isComplete', EXISTS (SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = $1 AND proname = $2)) AS answer`;

/** What a new connection finds. */
export interface ServerState {
  readonly version: number;
  readonly isStandby: boolean;
  readonly role: string;
  readonly database: string;
  /** The isolation level of a statement without a transaction of its own. */
  readonly level: string;
  readonly isComplete: boolean;
}

/** Checks the server of a new connection, and creates what is missing in the schema. */
export async function prepareServer(query: Query, schema: string, mayMigrate: boolean): Promise<ServerState> {
  const [row] = await query(SERVER_STATE, [schema, LAST_FUNCTION]);
  const server = JSON.parse(String(row?.['answer'])) as ServerState;
  if (server.version < MIN_SERVER)
    throw misconfigured('This server is too old: the library needs PostgreSQL 13 or later');
  if (server.isStandby) throw new Error('this server is a standby: connect to the primary');
  if (server.isComplete) return server;
  if (!mayMigrate)
    throw misconfigured(
      `The schema ${schema} is not complete: run the SQL of postgresMigrations() as its owner, or drop migrate: false`,
    );
  // where another replica migrates for long, the next attempt to connect finds what it has done
  await query(postgresMigrations(schema)).catch((error: unknown) => {
    if (sqlState(error) !== '42501') throw error;
    throw misconfigured(
      `The role ${server.role} may not create the schema ${schema}: run the SQL of postgresMigrations() as an owner of the ` +
        `database and set migrate: false, or GRANT CREATE ON DATABASE "${server.database}" TO "${server.role}"`,
      error,
    );
  });
  return server;
}
