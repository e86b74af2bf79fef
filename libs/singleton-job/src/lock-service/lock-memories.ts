import { JobMemory } from '../leadership/index.js';
import { type Clock } from '../time/index.js';

/** Fencing tokens of a lock are remembered for this long after it was last taken; later ones are larger all the same. */
export const STATE_TTL_MS = 24 * 60 * 60 * 1_000;
/** Looked at with each request, which adds one at most: so there are never many more than are still of use. */
const LOOKED_AT = 2;

interface Kept {
  readonly memory: JobMemory;
  users: number;
  expiryMs: number;
  untilMs: number;
}

/**
 * What this process knows of each lock that it asks for or has, and for as long after that as the lock may live: fencing
 * tokens then grow, and a new holder waits for an old one, also if Redis loses its data.
 */
export class LockMemories {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly clock: Clock) {}

  /** How many locks are remembered. */
  get size(): number {
    return this.#kept.size;
  }

  /** Somebody asks for a lock, or has it, until `leave` is called. */
  enter(name: string, expiryMs: number): { readonly memory: JobMemory; readonly leave: () => void } {
    this.#forgetSome();
    const kept = this.#find(name) ?? this.#begin(name);
    kept.users += 1;
    kept.expiryMs = Math.max(kept.expiryMs, expiryMs);
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      kept.users -= 1;
      kept.untilMs = this.clock.now() + Math.max(kept.expiryMs, kept.memory.longestTtlMs);
    };
    return { memory: kept.memory, leave };
  }

  #find(name: string): Kept | undefined {
    const kept = this.#kept.get(name);
    return kept === undefined || this.#isOver(kept) ? undefined : kept;
  }

  #begin(name: string): Kept {
    const memory = new JobMemory(this.clock, STATE_TTL_MS);
    const kept = { memory, users: 0, expiryMs: 0, untilMs: 0 };
    this.#kept.set(name, kept);
    return kept;
  }

  /** No timers: those that have waited longest are looked at, and wait at the end of the line if they are still of use. */
  #forgetSome(): void {
    let looked = 0;
    for (const [name, kept] of this.#kept) {
      if (looked === LOOKED_AT) return;
      looked += 1;
      this.#kept.delete(name);
      if (!this.#isOver(kept)) this.#kept.set(name, kept);
    }
  }

  #isOver({ users, untilMs }: Kept): boolean {
    return users === 0 && this.clock.now() >= untilMs;
  }
}
