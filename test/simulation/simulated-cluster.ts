import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type Holder,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SetPausedRequest,
  type SetPausedResult,
} from '../../libs/singleton-job/src/store/lock-store.js';
import { type ServerData } from '../../libs/singleton-job/src/store/memory/in-memory-sessions.js';
import { TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';

/** A cluster of two nodes. This one has the sessions, the other one has the locks and states of all jobs. */
export class SimulatedCluster extends TestServer {
  readonly locks: LockNode;

  constructor(clock: Clock) {
    super(clock);
    this.locks = new LockNode(clock);
  }

  override acquire(request: AcquireRequest): AcquireResult {
    return this.locks.acquire(request);
  }

  override renew(request: RenewRequest): RenewResult {
    return this.locks.renew(request);
  }

  override claim(request: ClaimRequest): ClaimResult {
    return this.locks.claim(request);
  }

  override release(request: ReleaseRequest): ReleaseResult {
    const result = this.locks.release(request);
    const { name, holder, token } = request;
    // every node of a cluster delivers the messages of all
    if (result.released) this.publish({ kind: 'released', locks: [{ name, holder, token }] });
    return result;
  }

  /** A second step changes the version of the pauses, which is beside the sessions. */
  override setPaused(request: SetPausedRequest): SetPausedResult {
    const result = this.locks.setPaused(request);
    super.setPaused(request);
    return result;
  }

  /** Both nodes fail over. */
  override restart(snapshot?: ServerData): void {
    super.restart(snapshot);
    this.locks.restart(snapshot);
  }

  override snapshot(): ServerData {
    const { locks, states } = this.locks.snapshot();
    return { ...super.snapshot(), locks, states };
  }

  override loseData(): void {
    super.loseData();
    this.locks.loseData();
  }

  override free(name: string): void {
    this.locks.free(name);
  }

  override forget(name: string): void {
    this.locks.forget(name);
  }

  override holderOf(name: string): Holder | undefined {
    return this.locks.holderOf(name);
  }

  /** Only the node of the sessions fails over. */
  restartSessions(snapshot: ServerData): void {
    super.restart(snapshot);
  }
}

/** The node of the locks. It has no sessions, so a request relies on the node that answered the last one. */
class LockNode extends TestServer {
  override acquire(request: AcquireRequest): AcquireResult {
    // its own heartbeat shows which node it is
    const { serverId, serverSince } = this.heartbeat({ sessions: [], knownList: undefined });
    const { knownServerId } = request;
    const heartbeat = knownServerId === undefined ? undefined : { serverId: knownServerId, serverSince };
    return { ...super.acquire({ ...request, heartbeat }), serverId };
  }
}
