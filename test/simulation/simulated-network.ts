import { asLockStoreError, LockStoreError } from '../../libs/singleton-job/src/errors/index.js';
import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../../libs/singleton-job/src/store/index.js';
import { type Chance } from './chance.js';
import { type Command, type Step } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { FINE_WEATHER, TRAVEL_MS, type Weather } from './weather.js';
import { type Confirmation } from './witness.js';
import { type World } from './world.js';

export interface NetworkParts {
  readonly world: World;
  readonly clock: ProcessClock;
  /** Carries out what arrives, also what was sent by a process that is gone. */
  readonly server: LockStore;
  /** The connection on which the process hears messages. */
  readonly ears: LockStore;
  readonly line: ServerLine;
  readonly chance: Chance;
  /** Is told of each step of a command. */
  readonly passed: (step: Step) => void;
  /** Is told when the process reads that it holds a lock. */
  readonly confirmed: (confirmation: Omit<Confirmation, 'process'>) => void;
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
    return this.#send(
      'acquire',
      (server) => server.acquire(bid),
      this.#confirming(bid, (answer) => answer.granted),
    );
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.#send(
      'renew',
      (server) => server.renew(renewal),
      this.#confirming(renewal, ({ held }) => held),
    );
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    const holds = ({ outcome }: ClaimAnswer): boolean => outcome !== 'not-leader';
    return this.#send('claim', (server) => server.claim(claim), this.#confirming(claim, holds));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.#send('release', (server) => server.release(release));
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.#send('release', (server) => server.announce(by, names));
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

  /** What to do with the answer to a command that is sent now: if it says so, the lease is confirmed. */
  #confirming<T extends object>(
    { name: job, holder, lockExpiryMs }: Pick<Renewal, 'name' | 'holder' | 'lockExpiryMs'>,
    holds: (answer: T) => boolean,
  ): (answer: T) => void {
    const sentMs = this.#parts.clock.now();
    return (answer) => {
      if (!holds(answer)) return;
      const token = 'token' in answer && typeof answer.token === 'number' ? { token: answer.token } : {};
      this.#parts.confirmed({ job, holder, sentMs, lockExpiryMs, ...token });
    };
  }

  /** Sends a command to the server. `read` is given the answer before the process is. */
  #send<T>(command: Command, carryOut: (server: LockStore) => Promise<T>, read?: (answer: T) => void): Promise<T> {
    const { server, clock, chance, line, passed } = this.#parts;
    if (this.#weather.isCut) return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the connection is cut'));
    return new Promise((resolve, reject) => {
      // what a dead process was about to do it does not do
      if (clock.hasEnded) return;
      this.#unanswered.add(reject);
      const to = this.#server;
      const back = (answer: () => void): void => {
        passed(`${command} carried out`);
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
          void carryOut(server).then(
            (answer) => {
              back(() => {
                read?.(answer);
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
      passed(`${command} sent`);
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
