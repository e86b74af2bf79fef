import { type SyncRequest, type SyncResult } from 'nestjs-singleton-job/store';
import { SystemClock } from '../../libs/singleton-job/src/base/time/system-clock.js';
import { MemoryServer, MemoryStore } from '../../libs/singleton-job/src/store/memory.js';

/** A store in memory that records the calls of open, sync and close. */
export class RecordingStore extends MemoryStore {
  readonly calls: string[] = [];

  constructor() {
    super(new MemoryServer(new SystemClock()));
  }

  override open(): void {
    this.calls.push('open');
    super.open();
  }

  override sync(request: SyncRequest): Promise<SyncResult> {
    this.calls.push('sync');
    return super.sync(request);
  }

  override close(): Promise<void> {
    this.calls.push('close');
    return super.close();
  }
}
