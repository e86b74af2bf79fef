import { type OwnServer } from '../tools/servers/own-server.js';
import { type ServerKind, SERVERS } from '../tools/servers/servers.js';

/** One server of each kind that is asked for. */
export class Servers implements AsyncDisposable {
  readonly #started = new Map<ServerKind, Promise<OwnServer>>();

  of(kind: ServerKind): Promise<OwnServer> {
    const server = this.#started.get(kind) ?? SERVERS[kind]();
    this.#started.set(kind, server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#started.values()) await (await server).stop();
  }
}
