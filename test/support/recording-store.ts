import { type AcquireRequest, type AcquireResult } from 'nestjs-singleton-job/store';
import { InMemoryLockStore } from '../../libs/singleton-job/src/store/memory/in-memory-store.js';
import { TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { SystemClock } from '../../libs/singleton-job/src/base/time/system-clock.js';

/** A store in memory that records the calls of open, acquire and close. */
export class RecordingStore extends InMemoryLockStore {
  readonly calls: string[] = [];

  constructor() {
    super(new TestServer(new SystemClock()));
  }

  override open(): void {
    this.calls.push('open');
    super.open();
  }

  override acquire(request: AcquireRequest): Promise<AcquireResult> {
    this.calls.push(`acquire ${request.name}`);
    return super.acquire(request);
  }

  override close(): Promise<void> {
    this.calls.push('close');
    return super.close();
  }
}
