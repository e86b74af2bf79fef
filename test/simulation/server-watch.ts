import { type Holder, type InMemoryLockStore, ownerOf } from '../../libs/singleton-job/src/lock/index.js';
import { type Open, type WitnessedHolding, type WitnessedStep } from '../support/checker.js';
import { type Command } from './plan.js';
import { type World } from './world.js';

/** A command about a lock, as it was sent. */
export interface SentCommand {
  readonly command: Command;
  readonly job: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  readonly process: string;
  readonly sentMs: number;
}

/** Watches the server itself: who holds each lock, from when and until when, and which command changed it. */
export class ServerWatch {
  readonly steps: WitnessedStep[] = [];
  readonly holdings: Open<WitnessedHolding>[] = [];
  readonly #world: World;
  readonly #server: InMemoryLockStore;
  readonly #rate: number;
  readonly #current = new Map<string, Open<WitnessedHolding>>();

  /** `rate` is that of the server's clock. */
  constructor(world: World, server: InMemoryLockStore, rate: number) {
    this.#world = world;
    this.#server = server;
    this.#rate = rate;
  }

  holderOf(job: string): Holder | undefined {
    return this.#server.holderOf(job);
  }

  /** A command was carried out this very moment; before it the lock was held by `before`. */
  carriedOut(sent: SentCommand, before: Holder | undefined): Open<WitnessedStep> {
    const { job, holder, command, process, sentMs, lockExpiryMs } = sent;
    const atMs = this.#world.nowMs;
    const after = this.holderOf(job);
    const step: Open<WitnessedStep> = {
      job,
      process,
      holder,
      command,
      sentMs,
      atMs,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    };
    this.steps.push(step);
    let current = this.#current.get(job);
    if (current !== undefined && current.holder !== after) {
      current.untilMs = Math.min(current.untilMs, atMs);
      this.#current.delete(job);
      current = undefined;
    }
    if (after === undefined) return step;
    if (current === undefined || before !== after) {
      current = { job, process: ownerOf(after) ?? after, holder: after, sentMs, fromMs: atMs, untilMs: Infinity };
      this.#current.set(job, current);
      this.holdings.push(current);
    }
    // a lock lives through the last millisecond of its time
    if (after === holder && command !== 'release') current.untilMs = atMs + (lockExpiryMs + 1) / this.#rate;
    return step;
  }

  /** The bid of this holder was granted. */
  granted(job: string, holder: Holder, fencingToken: number): void {
    const current = this.#current.get(job);
    if (current?.holder !== holder || current.fencingToken === fencingToken) return;
    if (current.fencingToken === undefined) {
      current.fencingToken = fencingToken;
      return;
    }
    // a bid that arrives again, after the state alone was lost, is granted anew
    const { nowMs } = this.#world;
    const again = { ...current, fencingToken, fromMs: nowMs };
    current.untilMs = nowMs;
    this.#current.set(job, again);
    this.holdings.push(again);
  }

  /** The server has forgotten the lock of this job. @default of all */
  lostLock(job?: string): void {
    for (const current of [...this.#current.values()]) {
      if (current.job !== (job ?? current.job)) continue;
      current.untilMs = Math.min(current.untilMs, this.#world.nowMs);
      this.#current.delete(current.job);
    }
  }

  /** The clock of the server was set: what is held runs out so much earlier. */
  stepped(byMs: number): void {
    const { nowMs } = this.#world;
    for (const current of [...this.#current.values()]) {
      current.untilMs = Math.max(nowMs, current.untilMs - byMs / this.#rate);
      if (current.untilMs === nowMs) this.#current.delete(current.job);
    }
  }

  /** Returns what to call when the server has gone back to the locks that it has now. */
  remember(): () => void {
    const held = [...this.#current.values()].map((current) => ({ ...current }));
    return () => {
      const { nowMs } = this.#world;
      this.lostLock();
      for (const current of held) {
        if (current.untilMs <= nowMs) continue;
        const again = { ...current, fromMs: nowMs };
        // nobody was granted it anew: it is no holding with a token of its own
        delete again.fencingToken;
        this.#current.set(current.job, again);
        this.holdings.push(again);
      }
    };
  }
}
