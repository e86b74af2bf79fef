import { type JobRecord, observedRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { type MemoryData } from '../../libs/singleton-job/src/store/memory.js';
import { type SyncRequest, type SyncResult } from '../../libs/singleton-job/src/store/store.js';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';

/** The store of a story. */
export class SimulatedServer extends FaultyServer {
  declare server: string;
  declare data: MemoryData;

  /** By its clock. */
  get time(): number {
    return this.now();
  }

  /** Reads the records now, and the leases when the result is called. */
  beginSync(request: SyncRequest): () => SyncResult {
    const time = this.now();
    const records = request.read.map((name) => this.recordOf(name, time));
    return () => ({ ...this.sync({ ...request, read: [] }), records });
  }

  isUnreadable(name: string): boolean {
    return this.recordOf(name, this.now()) === 'unreadable';
  }

  /** What the record says. */
  peek(name: string): JobRecord | undefined {
    return observedRecord(this.data.records.get(name)).value;
  }
}
