import { LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { Listeners } from '../../libs/singleton-job/src/store/listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
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
} from '../../libs/singleton-job/src/store/lock-store.js';
import { type TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { instant, type Instant, type Timer } from '../../libs/singleton-job/src/base/time/clock.js';
import { type Chance } from './chance.js';
import { type Connection } from './connection.js';
import { Line } from './line.js';
import { type Request, type Step } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type SimulatedServer } from './simulated-server.js';
import { GOOD_CONDITIONS, type NetworkConditions } from './network-conditions.js';
import { type Timeline } from './timeline.js';

/** What a process has read: the store has extended its sessions, or confirmed a lock. */
export interface Reading {
  heartbeat(request: HeartbeatRequest, result: HeartbeatResult, sent: Instant): void;
  /** `token` is that of a grant. */
  lock(request: RenewRequest | AcquireRequest, sent: Instant, token?: number): void;
}

export interface NetworkParts {
  readonly timeline: Timeline;
  readonly clock: ProcessClock;
  readonly server: SimulatedServer;
  /** How the server carries out a request: correctly, or with a mistake. */
  readonly data: TestServer;
  readonly chance: Chance;
  /** Called at each step of a request. */
  readonly passed: (step: Step) => void;
  /** Called after the server has carried out a request. */
  readonly carriedOut: (request: Request, body: object, answer: unknown) => void;
  readonly reading: Reading;
  /** @default true */
  readonly subscribes?: boolean;
}

const PING_MS = 3_000;

/** The store as one process reaches it. Its connections, one for requests and one for the subscription, have the conditions of its place. */
export class SimulatedNetwork implements LockStore {
  readonly name = 'the simulated store';
  readonly #parts: NetworkParts;
  readonly #listeners = new Listeners();
  readonly #requests: Line;
  readonly #subscription: Line;
  #conditions = GOOD_CONDITIONS;
  #pings: Timer | undefined;
  #unsubscribe: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    const { timeline, clock, server, chance, subscribes = true } = parts;
    const common = { timeline, clock, server, chance, conditions: () => this.#conditions };
    this.#requests = new Line({
      ...common,
      isProxied: server.isProxied,
      greet: () => undefined,
      onReady: () => {
        if (subscribes) this.#subscription.open();
        this.#listeners.each((listener) => listener.connected?.());
      },
      onLost: () => {
        const error = new LockStoreError('STORE_UNREACHABLE', 'not connected', { wasSent: false });
        this.#listeners.each((listener) => listener.disconnected?.(error));
      },
    });
    this.#subscription = new Line({
      ...common,
      isProxied: false,
      greet: (connection) => {
        this.#subscribe(connection);
      },
      onReady: (connection) => {
        this.#listeners.each((listener) => listener.subscribed?.());
        this.#ping(connection);
      },
      onLost: () => {
        this.#pings?.cancel();
        this.#unsubscribe?.();
        this.#listeners.each((listener) => listener.unsubscribed?.());
      },
    });
  }

  set conditions(conditions: NetworkConditions) {
    this.#conditions = conditions;
    this.#requests.conditionsChanged();
    this.#subscription.conditionsChanged();
  }

  get isGood(): boolean {
    return this.#conditions === GOOD_CONDITIONS;
  }

  /** Ends connections. They are opened again at once, if the conditions are good. */
  cut(which: 'requests' | 'subscription' | 'both'): void {
    if (which !== 'subscription') this.#requests.reset();
    if (which !== 'requests') this.#subscription.reset();
  }

  /** The process is gone. What it has sent still arrives. */
  end(): void {
    this.#stop();
    this.#requests.abandon();
    this.#subscription.abandon();
  }

  get isSubscribed(): boolean {
    return this.#subscription.connection !== undefined;
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    const sent = instant(this.#parts.clock);
    return this.#send(
      'heartbeat',
      request,
      (server) => server.heartbeat(request),
      (result) => {
        this.#parts.reading.heartbeat(request, result, sent);
      },
    );
  }

  endSession(session: SessionToKeep): Promise<void> {
    return this.#send('endSession', session, (server) => {
      server.endSession(session);
    });
  }

  acquire(request: AcquireRequest): Promise<AcquireResult> {
    const sent = instant(this.#parts.clock);
    return this.#send(
      'acquire',
      request,
      (server) => server.acquire(request),
      (result) => {
        if (result.granted) this.#parts.reading.lock(request, sent, result.token);
      },
    );
  }

  renew(request: RenewRequest): Promise<RenewResult> {
    const sent = instant(this.#parts.clock);
    return this.#send(
      'renew',
      request,
      (server) => server.renew(request),
      ({ held }) => {
        if (held) this.#parts.reading.lock(request, sent);
      },
    );
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    const sent = instant(this.#parts.clock);
    return this.#send(
      'claim',
      request,
      (server) => server.claim(request),
      ({ outcome }) => {
        if (outcome !== 'not-leader') this.#parts.reading.lock(request, sent);
      },
    );
  }

  release(request: ReleaseRequest): Promise<ReleaseResult> {
    return this.#send('release', request, (server) => server.release(request));
  }

  setPaused(request: SetPausedRequest): Promise<SetPausedResult> {
    return this.#send('setPaused', request, (server) => server.setPaused(request));
  }

  publish(message: StoreMessage): Promise<void> {
    return this.#send('publish', message, (server) => {
      server.publish(message);
    });
  }

  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    if (!this.#isClosed) this.#requests.open();
  }

  close(): Promise<void> {
    this.#stop();
    this.#requests.close();
    this.#subscription.close();
    return Promise.resolve();
  }

  #stop(): void {
    this.#isClosed = true;
    this.#pings?.cancel();
    this.#unsubscribe?.();
  }

  async #send<T>(
    request: Request,
    body: object,
    carryOut: (server: TestServer) => T,
    read?: (answer: T) => void,
  ): Promise<T> {
    const { clock, data, server, passed, carriedOut } = this.#parts;
    // right after `open()` a request waits for the first attempt
    if (this.#requests.connection === undefined) await this.#requests.firstAttempt;
    // a dead process sends nothing more
    if (clock.hasEnded) return new Promise(() => undefined);
    const { connection } = this.#requests;
    if (connection === undefined) throw new LockStoreError('STORE_UNREACHABLE', 'not connected', { wasSent: false });
    const answered = connection.request(
      () => {
        const refusal = server.refused.get(request);
        if (refusal !== undefined) throw refusal;
        const answer = carryOut(data);
        carriedOut(request, body, answer);
        return answer;
      },
      {
        carriedOut: () => {
          passed(`${request} carried out`);
        },
        ...(read && { read }),
      },
    );
    passed(`${request} sent`);
    return answered;
  }

  /** The server sends messages on this connection from now on. */
  #subscribe(connection: Connection): void {
    const { data } = this.#parts.server;
    const { chance, timeline } = this.#parts;
    // a late request of an old connection does not change the new one
    if (!connection.isOpen) return;
    this.#unsubscribe?.();
    this.#unsubscribe = data.addListener({
      message: (message) => {
        const { lostMessages, lateMessages, lateMs } = this.#conditions;
        if (chance.happens(lostMessages)) return;
        const push = (): void => {
          connection.push(() => {
            if (this.isSubscribed) this.#listeners.each((listener) => listener.message?.(message));
          });
        };
        if (chance.happens(lateMessages)) timeline.after(chance.between(0, lateMs), push);
        else push();
      },
    });
  }

  #ping(connection: Connection): void {
    this.#pings = this.#parts.clock.setTimer(PING_MS, () => {
      if (!connection.isOpen) return;
      connection.request(() => undefined).catch(() => undefined);
      this.#ping(connection);
    });
  }
}
