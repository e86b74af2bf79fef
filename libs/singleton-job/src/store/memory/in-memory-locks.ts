import { type Clock } from '../../time/index.js';
import { grantedState, raised, type State, toldByRefused } from './in-memory-state.js';
import {
  type Bid,
  type Claim,
  CLAIM_LEAD_MS,
  type ClaimAnswer,
  type ClaimOutcome,
  type Grant,
  type Holder,
  ownerOf,
  type Progress,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../lock-store.js';

interface Lock {
  readonly holder: Holder;
  /** The last millisecond in which the lock still lives; undefined for ever. */
  readonly expiresAt: number | undefined;
}

const FORGET_EVERY_MS = 60_000;

/** The data of an in-memory store, and the same steps on it that the scripts of the Redis store take. */
export class InMemoryLocks {
  readonly #clock: Clock;
  readonly #locks = new Map<string, Lock>();
  readonly #states = new Map<string, State>();
  #forgotAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  acquire(bid: Bid): Grant | Refusal {
    const time = this.#time();
    this.#forgetExpired(time);
    const stored = this.#liveState(bid.name, time);
    const lock = this.#liveLock(bid.name, time);
    if (lock !== undefined && lock.holder !== bid.holder) return this.#refuse(bid, { lock, stored, time });

    const state = grantedState(bid, { stored, time, isRepeated: lock !== undefined });
    this.#locks.set(bid.name, { holder: bid.holder, expiresAt: time + bid.lockExpiryMs });
    this.#states.set(bid.name, state);
    return {
      granted: true,
      token: state.token,
      last: state.last,
      ran: state.ran,
      by: state.by ?? '',
      endAgeMs: state.end === undefined ? undefined : Math.max(time - state.end, 0),
      born: state.born,
      time,
      raisedFrom: state.raisedFrom,
    };
  }

  renew(renewal: Renewal): RenewalAnswer {
    const time = this.#time();
    const held = this.#extend(renewal, time);
    if (held) this.#record(renewal.name, renewal.progress, time);
    return { held, time };
  }

  claim(claim: Claim): ClaimAnswer {
    const time = this.#time();
    const outcome = this.#extend(claim, time) ? this.#claimHeld(claim, time) : 'not-leader';
    return { outcome, last: this.#liveState(claim.name, time).last ?? 0, time };
  }

  release(release: Release): ReleaseAnswer {
    const time = this.#time();
    const released = this.#liveLock(release.name, time)?.holder === release.holder;
    if (released) {
      this.#locks.delete(release.name);
      this.#record(release.name, release.progress, time);
    }
    return { released, time };
  }

  holderOf(name: string): Holder | undefined {
    return this.#liveLock(name, this.#time())?.holder;
  }

  occupy(name: string, lock: { readonly holder: Holder; readonly ttlMs: number | undefined }): void {
    const expiresAt = lock.ttlMs === undefined ? undefined : this.#time() + lock.ttlMs;
    this.#locks.set(name, { holder: lock.holder, expiresAt });
  }

  free(name: string): void {
    this.#locks.delete(name);
  }

  forget(name: string): void {
    this.#states.delete(name);
  }

  remember(): () => void {
    const [locks, states] = [new Map(this.#locks), new Map(this.#states)];
    return () => {
      this.clear();
      for (const [name, lock] of locks) this.#locks.set(name, lock);
      for (const [name, state] of states) this.#states.set(name, state);
    };
  }

  clear(): void {
    this.#locks.clear();
    this.#states.clear();
  }

  #refuse(bid: Bid, found: { lock: Lock; stored: State; time: number }): Refusal {
    const { lock, time } = found;
    const stored = ownerOf(lock.holder) === undefined ? found.stored : toldByRefused(bid, found.stored);
    if (stored !== found.stored) this.#states.set(bid.name, stored);
    const mended = lock.expiresAt === undefined;
    const expiresAt = lock.expiresAt ?? time + bid.lockExpiryMs;
    if (mended) this.#locks.set(bid.name, { holder: lock.holder, expiresAt });
    return {
      granted: false,
      holder: lock.holder,
      ttlMs: expiresAt - time,
      token: stored.token ?? 0,
      last: stored.last ?? 0,
      ran: (stored.raisedFrom ?? stored).ran ?? 0,
      born: stored.born ?? 0,
      time,
      mended,
      schedule: stored.schedule ?? '',
    };
  }

  #claimHeld(claim: Claim, time: number): ClaimOutcome {
    this.#record(claim.name, claim.progress, time);
    const stored = this.#liveState(claim.name, time);
    const last = stored.last ?? 0;
    const by = `${claim.holder} ${claim.token}`;
    if (claim.scheduledAt > time + CLAIM_LEAD_MS) return 'too-early';
    if (last === claim.scheduledAt && stored.by === by) return 'mine';
    if (last >= claim.scheduledAt) return 'taken';
    this.#states.set(claim.name, { ...stored, last: claim.scheduledAt, by });
    return 'claimed';
  }

  #extend(renewal: Renewal, time: number): boolean {
    if (this.#liveLock(renewal.name, time)?.holder !== renewal.holder) return false;
    this.#locks.set(renewal.name, { holder: renewal.holder, expiresAt: time + renewal.lockExpiryMs });
    return true;
  }

  #record(name: string, progress: Progress, time: number): void {
    if (Object.keys(progress).length === 0) return;
    const stored = this.#liveState(name, time);
    const end = progress.endAgeMs === undefined ? undefined : time - Math.round(progress.endAgeMs);
    // settled is claimed, also where a failover has lost the claim
    const last = raised(raised(stored.last, progress.ran), progress.last);
    this.#states.set(name, {
      ...stored,
      last,
      by: last === stored.last ? stored.by : undefined,
      ran: raised(stored.ran, progress.ran),
      raisedFrom: (progress.ran ?? -1) >= (stored.ran ?? 0) ? undefined : stored.raisedFrom,
      end: raised(stored.end, end),
    });
  }

  /** Now and then, so that locks of a thousand names do not stay for ever. */
  #forgetExpired(time: number): void {
    if (time < this.#forgotAt + FORGET_EVERY_MS) return;
    this.#forgotAt = time;
    for (const records of [this.#locks, this.#states]) {
      for (const [name, { expiresAt = Infinity }] of records) if (time > expiresAt) records.delete(name);
    }
  }

  #liveState(name: string, time: number): State {
    const state = this.#states.get(name);
    return state === undefined || time > (state.expiresAt ?? Infinity) ? {} : state;
  }

  #liveLock(name: string, time: number): Lock | undefined {
    const lock = this.#locks.get(name);
    return lock?.expiresAt !== undefined && time > lock.expiresAt ? undefined : lock;
  }

  #time(): number {
    return Math.floor(this.#clock.wallNow());
  }
}
