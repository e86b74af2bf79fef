import { eachSettled } from './settle.js';

/** Something that will happen at a moment of true time, unless it is cancelled. */
export interface ScheduledEvent {
  callOff(): void;
}

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
  isOff: boolean;
}

/** True time, which no replica can see, and all events that will happen in it, in order. */
export class Timeline {
  #nowMs = 0;
  #order = 0;
  /** A binary heap, the earliest first. */
  readonly #heap: Entry[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, happen: () => void): ScheduledEvent {
    return this.at(this.#nowMs + Math.max(delayMs, 0), happen);
  }

  /** Timers of the same moment fire in the order in which they were set. */
  at(atMs: number, happen: () => void): ScheduledEvent {
    const entry: Entry = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, happen, isOff: false };
    this.#push(entry);
    return {
      callOff: () => {
        entry.isOff = true;
      },
    };
  }

  /** Lets time pass. All effects of one event settle before the next event. */
  async passUntil(untilMs: number): Promise<void> {
    await eachSettled(() => this.#happenNext(untilMs));
    this.#nowMs = untilMs;
  }

  /** Whether an event was due until then. */
  #happenNext(untilMs: number): boolean {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#pop();
      if (next.isOff) continue;
      this.#nowMs = next.atMs;
      next.happen();
      return true;
    }
    return false;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, entry)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) child += 1;
      const smaller = heap[child];
      if (smaller === undefined || isBefore(last, smaller)) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
