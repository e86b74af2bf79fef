/** What a store on a server needs. `C` says where that server is. */
export interface ServerStoreOptions<C> {
  /** First part of the key of everything that the store writes. */
  readonly projectName: string;
  readonly connection: C;
  /** Called before each attempt to connect: the password may have changed. What it returns is of the same kind. @default `connection` */
  readonly readConnection?: (() => Promise<C>) | undefined;
  /** False: it receives no hints, and has one connection. Enough for heartbeats. @default true */
  readonly subscribes?: boolean;
  /** The shortest life of a lease: time limits of requests and connections follow it. @default 10_000 */
  readonly shortestLifeMs?: number;
}
