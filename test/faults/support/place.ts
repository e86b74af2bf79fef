import { Redis } from 'ioredis';
import { Client } from 'pg';
import { until } from '../../../tools/replicas/until.js';
import { type OwnServer } from '../../../tools/servers/own-server.js';
import { PostgresServer } from '../../../tools/servers/postgres-server.js';
import { RedisServer, type RedisServerOptions } from '../../../tools/servers/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

export const KINDS = ['Redis', 'PostgreSQL'] as const;
export type Kind = (typeof KINDS)[number];

interface Server extends OwnServer {
  readonly port: number;
  /** A Redis loses its data, unless it was started with `appendOnly`. */
  kill(options?: { readonly keepSnapshot?: boolean }): Promise<void>;
}

/** A server that follows the one of a place. */
export interface Copy extends AsyncDisposable {
  readonly port: number;
  /** It gets no writes from now on. */
  cutOff(): unknown;
  /** It takes writes from now on, and the server of the place may go on beside it. */
  promote(): Promise<unknown>;
}

/** A server. Replicas are its user `app`. */
export interface BarePlace extends AsyncDisposable {
  readonly server: { readonly port: number };
  /** For replicas: the server itself, or a port in place of its own. */
  urlOf(port?: number): string;
}

/** A server with its faults: each is done by its administrator. */
export interface Place extends BarePlace {
  readonly kind: Kind;
  readonly server: Server;
  /** Carries out commands of Redis, or statements of SQL, on a connection of its own. Resolves to the last answer. */
  run(...commands: readonly string[]): Promise<unknown>;
  /** They end every connection of replicas, take a right away that every heartbeat needs, and give it back. */
  readonly commands: Readonly<Record<'end' | 'refuse' | 'permit', string>>;
  /** Saves the data. The result goes back to them, in a restart. */
  snapshot(): Promise<() => Promise<void>>;
  /** Resolves once it has a copy of everything. */
  copy(): Promise<Copy>;
}

export function startPlace(kind: Kind, redis?: RedisServerOptions): Promise<Place> {
  return kind === 'Redis' ? RedisPlace.start(redis) : PostgresPlace.start();
}

/** Where a network ends on the side of a replica. */
export function portOf({ url }: TcpProxy): number {
  return Number(new URL(url).port);
}

class RedisPlace implements Place {
  readonly kind = 'Redis';
  readonly commands = {
    end: 'CLIENT KILL USER app',
    refuse: 'ACL SETUSER app -eval',
    permit: 'ACL SETUSER app +eval',
  };

  private constructor(readonly server: RedisServer) {}

  static async start({ args = [], ...options }: RedisServerOptions = {}): Promise<RedisPlace> {
    const user = ['--user', 'app', 'on', '>secret', '~*', '&*', '+@all'];
    const server = await RedisServer.start({ ...options, args: [...user, '--repl-diskless-sync-delay', '0', ...args] });
    return new RedisPlace(server);
  }

  urlOf(port = this.server.port): string {
    return `redis://app:secret@127.0.0.1:${String(port)}`;
  }

  async run(...commands: readonly string[]): Promise<unknown> {
    const admin = adminOf(this.server);
    try {
      let answer: unknown;
      for (const command of commands) {
        const words = command.match(/"[^"]*"|\S+/g) ?? [];
        answer = await admin.call(...(words.map((word) => word.replaceAll('"', '')) as [string]));
      }
      return answer;
    } finally {
      admin.disconnect();
    }
  }

  async snapshot(): Promise<() => Promise<void>> {
    await this.run('SAVE');
    return async () => {
      await this.server.kill({ keepSnapshot: true });
      await this.server.up();
    };
  }

  async copy(): Promise<Copy> {
    const link = await TcpProxy.start(this.server.port);
    const copy = await RedisPlace.start({ args: ['--replicaof', '127.0.0.1', String(portOf(link))] });
    await until('the copy follows', async () => isFollowing(await copy.run('INFO replication')));
    return copyOf(link, copy.server, () => copy.run('REPLICAOF NO ONE'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

class PostgresPlace implements Place {
  readonly kind = 'PostgreSQL';
  readonly commands = {
    end: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'",
    refuse: 'REVOKE UPDATE ON ALL TABLES IN SCHEMA singleton_job FROM app',
    permit: 'GRANT UPDATE ON ALL TABLES IN SCHEMA singleton_job TO app',
  };

  private constructor(readonly server: PostgresServer) {}

  static async start(): Promise<PostgresPlace> {
    const place = new PostgresPlace(await PostgresServer.start(['-c', 'max_connections=20']));
    const granted = ['DATABASE postgres', 'SCHEMA public'].map((where) => `GRANT CREATE ON ${where} TO app`);
    await place.run('CREATE ROLE app LOGIN', ...granted);
    return place;
  }

  urlOf(port = this.server.port): string {
    return `postgresql://app@127.0.0.1:${String(port)}/postgres`;
  }

  async run(...statements: readonly string[]): Promise<unknown> {
    const client = new Client(this.server.url);
    await client.connect();
    try {
      let rows: unknown;
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  }

  async snapshot(): Promise<() => Promise<void>> {
    await this.server.down();
    const restore = await this.server.snapshot();
    await this.server.up();
    return async () => {
      await this.server.down();
      await restore();
      await this.server.up();
    };
  }

  async copy(): Promise<Copy> {
    const link = await TcpProxy.start(this.server.port);
    const standby = await this.server.standby(portOf(link));
    return copyOf(link, standby, () => standby.promote());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

function copyOf(link: TcpProxy, server: Server, promote: Copy['promote']): Copy {
  return {
    port: server.port,
    promote,
    cutOff: () => link.freeze(),
    [Symbol.asyncDispose]: async () => {
      await link[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

/**
 * A client that no replica knows of. It waits for the server without a limit, and repeats requests without an answer.
 */
export function adminOf(server: RedisServer): Redis {
  const admin = new Redis(server.url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    disconnectTimeout: 100,
  });
  return admin.on('error', () => undefined);
}

/** By its answer to `INFO replication`. */
export function isFollowing(info: unknown): boolean {
  return String(info).includes('master_link_status:up');
}
