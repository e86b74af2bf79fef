import { asLockStoreError, LockStoreError } from '../../libs/singleton-job/src/errors/index.js';
import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type Holder,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../../libs/singleton-job/src/lock/index.js';
import { type Chance } from './chance.js';
import { type Command } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { FINE_WEATHER, TRAVEL_MS, type Weather } from './weather.js';
import { type World } from './world.js';

/** What a command is about, and how to read its answer. */
export interface About<T> {
  readonly name: string;
  readonly holder: Holder;
  readonly lockExpiryMs?: number;
  /** Whether the answer confirms the lease. */
  readonly confirms?: (answer: T) => boolean;
  /** The token of a grant. */
  readonly token?: (answer: T) => number | undefined;
  /** When the state began that the answer tells of; 0 if there is none. */
  readonly born?: (answer: T) => number;
  /** Who has the lock that was refused. */
  readonly refusedBy?: (answer: T) => Holder | undefined;
  /** The newest occurrence that the answer knows of. */
  readonly last?: (answer: T) => number;
  /** The occurrence that is now claimed. */
  readonly claimed?: (answer: T) => number | undefined;
}

/** Is told of commands on their way. */
export interface Wire {
  sent(command: Command): void;
  carriedOut(command: Command): void;
  /** Of a command about a lock: when it is about to be carried out, has been, and its answer is read. */
  follow?<T>(command: Command, about: About<T>): Follower<T>;
}

export interface Follower<T> {
  arrives(): void;
  wasCarriedOut(): void;
  isAnswered(answer: T): void;
  isRead(answer: T): void;
}

export interface NetworkParts {
  readonly world: World;
  readonly clock: ProcessClock;
  /** Carries out what arrives, also what was sent by a process that is gone. */
  readonly server: LockStore;
  /** The connection on which the process hears messages. */
  readonly ears: LockStore;
  readonly line: ServerLine;
  readonly chance: Chance;
  readonly wire: Wire;
}

/** The store as one process reaches it, over a network whose weather the simulation makes. */
export class SimulatedNetwork implements LockStore {
  readonly #parts: NetworkParts;
  readonly #listeners = new Set<LockStoreListener>();
  readonly #unanswered = new Set<(error: LockStoreError) => void>();
  #weather = FINE_WEATHER;
  /** The server that the process is connected to, which may not be there any more. */
  #server: number;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    this.#server = parts.line.server;
    parts.line.connect(() => {
      if (this.#weather.isCut) return;
      this.#disconnected();
      this.#connected();
    });
  }

  /** A connection that breaks or is made is noticed at once. */
  set weather(weather: Weather) {
    const wasCut = this.#weather.isCut;
    this.#weather = weather;
    if (weather.isCut === wasCut) return;
    if (weather.isCut) this.#disconnected();
    else this.#connected();
  }

  get hearsReleases(): boolean {
    return !this.#weather.isCut;
  }

  acquire(bid: Bid): Promise<Grant | Refusal> {
    const token = (answer: Grant | Refusal): number | undefined => (answer.granted ? answer.token : undefined);
    const last = (answer: Grant | Refusal): number => answer.last;
    const born = (answer: Grant | Refusal): number => answer.born;
    const refusedBy = (answer: Grant | Refusal): Holder | undefined => (answer.granted ? undefined : answer.holder);
    const about = { ...bid, token, last, born, refusedBy, confirms: ({ granted }: Grant | Refusal) => granted };
    return this.send('acquire', (server) => server.acquire(bid), about);
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    const about = { ...renewal, confirms: ({ held }: RenewalAnswer) => held };
    return this.send('renew', (server) => server.renew(renewal), about);
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    const { name, holder, lockExpiryMs, scheduledAt } = claim;
    return this.send<ClaimAnswer>('claim', (server) => server.claim(claim), {
      name,
      holder,
      lockExpiryMs,
      last: (answer) => answer.last,
      claimed: ({ outcome }) => (outcome === 'claimed' || outcome === 'mine' ? scheduledAt : undefined),
      confirms: ({ outcome }) => outcome !== 'not-leader',
    });
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.send('release', (server) => server.release(release), release);
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.send('release', (server) => server.announce(by, names));
  }

  batch(send: () => void): void {
    send();
  }

  listen(listener: LockStoreListener): () => void {
    this.#listeners.add(listener);
    return this.#parts.ears.listen({
      released: (message) => {
        if (this.#weather.isCut || this.#parts.chance.happens(this.#weather.lostMessages)) return;
        this.#travel(() => {
          this.#parts.clock.deliver(() => listener.released?.(message));
        });
      },
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
    });
  }

  open(): void {
    this.#parts.ears.open();
  }

  /** What has not been answered by now is unknown. */
  async close(): Promise<void> {
    await this.#parts.ears.close();
    for (const giveUp of this.#unanswered) giveUp(new LockStoreError('STORE_UNREACHABLE', 'the connection is closed'));
  }

  /** Sends anything to the server, through the same weather as everything else. `about` lets the witness follow it. */
  send<T>(command: Command, carryOut: (server: LockStore) => Promise<T>, about?: About<T>): Promise<T> {
    const { server, clock, chance, line, wire } = this.#parts;
    if (this.#weather.isCut) return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the connection is cut'));
    return new Promise((resolve, reject) => {
      // what a dead process was about to do it does not do
      if (clock.hasEnded) return;
      this.#unanswered.add(reject);
      const to = this.#server;
      const follower = about === undefined ? undefined : wire.follow?.(command, about);
      const back = (answer: () => void): void => {
        wire.carriedOut(command);
        if (chance.happens(this.#weather.lostAnswers)) return;
        this.#travel(() => {
          if (to !== line.server) return;
          clock.deliver(() => {
            this.#unanswered.delete(reject);
            answer();
          });
        });
      };
      const arrive = (): void => {
        if (chance.happens(this.#weather.lostCommands)) return;
        line.arrive(() => {
          if (to !== line.server) return;
          follower?.arrives();
          const answering = carryOut(server);
          follower?.wasCarriedOut();
          void answering.then(
            (answer) => {
              follower?.isAnswered(answer);
              back(() => {
                follower?.isRead(answer);
                resolve(answer);
              });
            },
            (error: unknown) => {
              back(() => {
                reject(asLockStoreError(error));
              });
            },
          );
        });
      };
      this.#travel(arrive);
      if (chance.happens(this.#weather.duplicated)) this.#travel(arrive);
      wire.sent(command);
    });
  }

  #disconnected(): void {
    this.#parts.clock.deliver(() => {
      for (const listener of this.#listeners) listener.deaf?.();
    });
  }

  #connected(): void {
    const { clock, line } = this.#parts;
    clock.deliver(() => {
      this.#server = line.server;
      for (const listener of this.#listeners) {
        listener.hearing?.();
        listener.reachable?.();
      }
    });
  }

  #travel(arrive: () => void): void {
    const { world, chance } = this.#parts;
    const isSlow = chance.happens(this.#weather.slow);
    world.after(chance.between(0.1, isSlow ? this.#weather.slowMs : TRAVEL_MS), arrive);
  }
}
