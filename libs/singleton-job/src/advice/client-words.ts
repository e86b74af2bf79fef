import { didYouMean } from './suggest.js';

/** The options of a client. */
export interface ClientWords {
  readonly name: string;
  readonly options: readonly string[];
  /** The one that is a URL. */
  readonly url: string;
  /** What else can be passed. */
  readonly otherwise?: string;
}

/** Its clients and its `Pool`. A test compares them with what the installed `pg` reads. */
export const PG: ClientWords = {
  name: 'pg',
  options: (
    'host port database user password ssl connectionString options application_name fallback_application_name ' +
    'client_encoding connectionTimeoutMillis statement_timeout query_timeout lock_timeout ' +
    'idle_in_transaction_session_timeout keepAlive keepAliveInitialDelayMillis enableChannelBinding sslnegotiation ' +
    'replication binary pipeline stream types max min idleTimeoutMillis maxUses maxLifetimeSeconds allowExitOnIdle log ' +
    'scramMaxIterations Promise Client verify onConnect poolSize'
  ).split(' '),
  url: 'connectionString',
  otherwise: ', or pass a Pool of pg, whose options are not checked',
};

/** Its connections and pools. A test compares them with what the installed `mysql2` knows. */
export const MYSQL2: ClientWords = {
  name: 'mysql2',
  options: (
    'uri host port socketPath localAddress user password password1 password2 password3 passwordSha1 database ssl ' +
    'connectTimeout charset charsetNumber compress connectAttributes authPlugins authSwitchHandler insecureAuth ' +
    'enableCleartextPlugin enableKeepAlive keepAliveInitialDelay flags isServer stream pool infileStreamFactory ' +
    'multipleStatements namedPlaceholders maxPreparedStatements queryFormat nestTables rowsAsArray typeCast timezone ' +
    'dateStrings bigNumberStrings supportBigNumbers decimalNumbers stringifyObjects jsonStrings debug trace disableEval ' +
    'connectionLimit maxIdle idleTimeout Promise queueLimit resetOnRelease waitForConnections gracefulEnd'
  ).split(' '),
  url: 'uri',
};

/** Options of other clients that ioredis ignores. */
export const NOT_OF_IOREDIS = ['url', 'socket', 'hostname', 'user', 'database', 'connectionString', 'ssl'];

/** Names that other clients and ORMs have for options of `pg` and `mysql2`. */
const NAMES_ELSEWHERE = new Map([
  ['username', 'user'],
  ['pass', 'password'],
  ['pwd', 'password'],
  ['hostname', 'host'],
  ['dbname', 'database'],
  ['db', 'database'],
]);

const URLS_ELSEWHERE = ['url', 'uri', 'connectionString'];

/** About an option that the client does not have. */
export function unknownTo({ name, options, url, otherwise = '' }: ClientWords, option: string): string {
  const own = URLS_ELSEWHERE.includes(option) ? url : NAMES_ELSEWHERE.get(option);
  const all = `write host, port, database, user and password, or ${url}${otherwise}`;
  return `is no option of ${name}: ${own === undefined ? didYouMean(option, options, all) : `write ${own}`}`;
}
