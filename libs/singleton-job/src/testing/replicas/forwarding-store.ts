import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type LockOverview,
  type LockStore,
  type LockStoreListener,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StoreMessage,
} from '../../store/lock-store.js';

/** A request from a process to its store. */
export type ForwardedRequest =
  'heartbeat' | 'endSession' | 'acquire' | 'renew' | 'claim' | 'release' | 'setPaused' | 'readLocks' | 'publish';

/** A store in front of another store. It decides what happens to each request and each message on its way. */
export abstract class ForwardingStore implements LockStore {
  protected readonly listeners = new Set<LockStoreListener>();

  constructor(protected readonly store: LockStore) {}

  abstract readonly isSubscribed: boolean;

  get name(): string {
    return this.store.name;
  }

  /** Called when a request is sent. `carryOut` passes it to the real store. */
  protected abstract send<T>(request: ForwardedRequest, name: string, carryOut: () => Promise<T>): Promise<T>;

  /** Called when a message arrives. `deliver` passes it on. */
  protected abstract receive(deliver: () => void): void;

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return this.send('heartbeat', '', () => this.store.heartbeat(request));
  }

  endSession(session: SessionToKeep): Promise<void> {
    return this.send('endSession', session.id, () => this.store.endSession(session));
  }

  acquire(request: AcquireRequest): Promise<AcquireResult> {
    return this.send('acquire', request.name, () => this.store.acquire(request));
  }

  renew(request: RenewRequest): Promise<RenewResult> {
    return this.send('renew', request.name, () => this.store.renew(request));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.send('claim', request.name, () => this.store.claim(request));
  }

  release(request: ReleaseRequest): Promise<ReleaseResult> {
    return this.send('release', request.name, () => this.store.release(request));
  }

  setPaused(request: SetPausedRequest): Promise<SetPausedResult> {
    return this.send('setPaused', request.name, () => this.store.setPaused(request));
  }

  readLocks(names: readonly string[]): Promise<readonly LockOverview[]> {
    return this.send('readLocks', '', () => this.store.readLocks?.(names) ?? Promise.resolve([]));
  }

  publish(message: StoreMessage): Promise<void> {
    return this.send('publish', described(message), () => this.store.publish(message));
  }

  addListener(listener: LockStoreListener): () => void {
    this.listeners.add(listener);
    const stop = this.store.addListener({
      message: (message) => {
        this.receive(() => listener.message?.(message));
      },
      subscribed: () => listener.subscribed?.(),
    });
    return () => {
      this.listeners.delete(listener);
      stop();
    };
  }

  open(): void {
    this.store.open();
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

/** As in `granted tick,tock`, `trigger tick` or `reply`. */
function described(message: StoreMessage): string {
  if ('locks' in message) return `${message.kind} ${message.locks.map(({ name }) => name).join(',')}`;
  return message.kind === 'request' ? `${message.action} ${message.name}` : message.kind;
}
