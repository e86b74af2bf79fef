import { type OwnServer } from '../tools/servers/own-server.js';
import { SERVERS } from '../tools/servers/servers.js';

/** The servers that are measured. */
export const BENCH_SERVERS = ['redis', 'postgres'] as const;
export type BenchServer = (typeof BENCH_SERVERS)[number];

/** One server of each kind that is asked for. */
export class Servers implements AsyncDisposable {
  readonly #started = new Map<BenchServer, Promise<OwnServer>>();

  of(kind: BenchServer): Promise<OwnServer> {
    const server = this.#started.get(kind) ?? SERVERS[kind]();
    this.#started.set(kind, server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#started.values()) await (await server).stop();
  }
}
