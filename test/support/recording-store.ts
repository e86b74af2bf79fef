import { type Bid, type Grant, type Refusal } from 'nestjs-singleton-job';
import { InMemoryLockStore } from '../../libs/singleton-job/src/store/index.js';
import { SystemClock } from '../../libs/singleton-job/src/time/index.js';

/** A store in memory that keeps what it was asked for first: to open, for a lock, to close. */
export class RecordingStore extends InMemoryLockStore {
  readonly calls: string[] = [];

  constructor() {
    super(new SystemClock());
  }

  override open(): void {
    this.calls.push('open');
    super.open();
  }

  override acquire(bid: Bid): Promise<Grant | Refusal> {
    this.calls.push(`acquire ${bid.name}`);
    return super.acquire(bid);
  }

  override close(): Promise<void> {
    this.calls.push('close');
    return super.close();
  }
}
