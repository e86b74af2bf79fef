import { type Redis } from 'ioredis';
import { RedisServer } from '../../../tools/replicas/redis/index.js';
import { TcpProxy } from '../../../tools/replicas/tcp-proxy.js';
import { type FaultRun, adminClient } from './fault-run.js';

/** A replica of the Redis of a fault run. It can be promoted while the old primary continues behind a partition. */
export class PromotedReplica implements AsyncDisposable {
  #away: TcpProxy | undefined;

  private constructor(
    private readonly faultRun: FaultRun,
    /** The network between the two. */
    private readonly link: TcpProxy,
    private readonly server: RedisServer,
    private readonly client: ReturnType<typeof adminClient>,
  ) {}

  /** Resolves once it has a copy of everything. */
  static async start(faultRun: FaultRun): Promise<PromotedReplica> {
    await faultRun.admin.config('SET', 'repl-diskless-sync-delay', '0');
    const link = await TcpProxy.start(faultRun.server.port);
    const server = await RedisServer.start({ args: ['--replicaof', '127.0.0.1', new URL(link.url).port] });
    const successor = new PromotedReplica(faultRun, link, server, adminClient(server));
    await faultRun.pair.until('it follows', async () =>
      (await successor.admin.info('replication')).includes('master_link_status:up'),
    );
    return successor;
  }

  get admin(): Redis {
    return this.client.admin;
  }

  /** It gets no writes from now on. */
  cutOff(): void {
    this.link.freeze();
  }

  /** Promotes it behind a partition. On the other side are the old primary and, optionally, one replica of the application. */
  async promote({ away }: { readonly away?: TcpProxy } = {}): Promise<void> {
    this.#away = away;
    this.cutOff();
    await this.admin.replicaof('NO', 'ONE');
    for (const proxy of this.faultRun.proxies) if (proxy !== away) proxy.redirect(this.server.port);
  }

  /** Ends the partition: the old primary becomes a replica, and clients that it refuses look up the new primary. */
  async demoteTheOther(): Promise<void> {
    const { admin, pair } = this.faultRun;
    const refusals = (): number => pair.leader.observer.of('storeUnreachable').length;
    const before = refusals();
    await admin.replicaof('127.0.0.1', this.server.port);
    await pair.until('it refuses to be written to', () => refusals() > before);
    this.#away?.redirect(this.server.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    await this.link[Symbol.asyncDispose]();
    await this.server.stop();
  }
}
