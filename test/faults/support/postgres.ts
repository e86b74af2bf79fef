import { Client } from 'pg';
import { type PostgresServer } from '../../../tools/replicas/postgres/postgres-server.js';
import { type TcpProxy } from '../../../tools/replicas/tcp-proxy.js';

type Rows = readonly Record<string, unknown>[];

/** Runs statements as the superuser, on a connection of its own. Resolves to the rows of the last one. */
export async function run(server: PostgresServer, ...statements: readonly string[]): Promise<Rows> {
  const client = new Client(server.url);
  await client.connect();
  try {
    let rows: Rows = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

export function portOf({ url }: TcpProxy): number {
  return Number(new URL(url).port);
}

/** Where a PostgreSQL is behind a network. */
export function urlOf(proxy: TcpProxy): string {
  return `postgresql://postgres@127.0.0.1:${String(portOf(proxy))}/postgres`;
}
