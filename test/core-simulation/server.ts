import { type JobRecord, type SeenRecord, seenRecord } from '../../libs/singleton-job/src/core/leadership/record.js';
import { emptyData, type MemoryData } from '../../libs/singleton-job/src/core/store/memory.js';
import { type SyncRequest, type SyncResult } from '../../libs/singleton-job/src/core/store/store.js';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';

/** The store of a story. */
export class SimulatedServer extends FaultyServer {
  readonly #seen = new Map<string, SeenRecord>();

  /** Reads the records now, and the leases when the result is called. */
  beginSync(request: SyncRequest): () => SyncResult {
    const time = this.now();
    const records = request.read.map((name) => this.recordOf(name, time));
    return () => ({ ...this.sync({ ...request, read: [] }), records });
  }

  /** Another server takes over, or the same one again. */
  become(server: string, snapshot: MemoryData = emptyData()): void {
    this.restart(snapshot);
    this.server = server;
  }

  get id(): string {
    return this.server;
  }

  get noted(): MemoryData['noted'] {
    return this.data.noted;
  }

  get names(): readonly string[] {
    return [...this.data.records.keys()];
  }

  /** What the record says. */
  look(name: string): JobRecord | undefined {
    const stored = this.data.records.get(name);
    const seen = seenRecord(stored, this.#seen.get(name));
    this.#seen.set(name, seen);
    return seen.value;
  }
}
