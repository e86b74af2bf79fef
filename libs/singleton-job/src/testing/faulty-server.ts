import { jobRecord, observedRecord } from '../leadership/record.js';
import { type Holder } from '../store/lease-id.js';
import { MemoryData, MemoryServer } from '../store/memory.js';
import { type StoredRecord } from '../store/store.js';

/** A server in memory with the faults of a real one. */
export class FaultyServer extends MemoryServer {
  readonly #corrupted = new Set<string>();
  #aheadMs = 0;
  #starts = 1;

  /** A copy of everything, as a server writes it to its disk. */
  snapshot(): MemoryData {
    return structuredClone(this.data);
  }

  /** Another server takes over: with the data of a snapshot, or with none. */
  restart(snapshot: MemoryData = new MemoryData()): void {
    this.loseData(snapshot);
    this.#starts += 1;
    this.server = `memory-${String(this.#starts)}`;
  }

  /** Loses everything, or what is newer than a snapshot, and stays the same server. */
  loseData(snapshot: MemoryData = new MemoryData()): void {
    this.data = structuredClone(snapshot);
  }

  /** Loses the leases and the incarnation, which real servers keep together. */
  loseLeases(): void {
    this.data.leases.clear();
    this.data.noted = undefined;
  }

  /** Loses one record and nothing else. */
  loseRecord(name: string): void {
    this.data.records.delete(name);
  }

  /** Makes a record unreadable, as a key of another type is. */
  corrupt(name: string): void {
    this.#corrupted.add(name);
  }

  /** Who holds the record of a job: also a dead replica, until another takes it. Undefined: it is free. */
  holderOf(job: string): Holder | undefined {
    return observedRecord(this.data.records.get(jobRecord(job))).value?.holder;
  }

  /** The record can be read again. */
  repair(name: string): void {
    this.#corrupted.delete(name);
  }

  /** Sets the clock of the server ahead, or back. */
  jump(byMs: number): void {
    this.#aheadMs += byMs;
  }

  /** Its time. @internal */
  protected override now(): number {
    return super.now() + this.#aheadMs;
  }

  /** @internal */
  protected override recordOf(name: string, time: number): StoredRecord | 'unreadable' | undefined {
    return this.#corrupted.has(name) ? 'unreadable' : super.recordOf(name, time);
  }
}
