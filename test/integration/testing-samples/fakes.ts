// fakes.ts
import { PriceApi } from './prices.js';
import { ManualClock } from 'nestjs-singleton-job/testing';

/** Each pull takes `pullMs` on the clock of the test. It rejects when the signal fires. */
export class FakeApi extends PriceApi {
  readonly saved: number[][] = [];

  constructor(
    private readonly pullMs = 0,
    private readonly clock = new ManualClock(),
  ) {
    super();
  }

  async pull({ signal }: { signal: AbortSignal }): Promise<number> {
    if (this.pullMs > 0) await this.clock.sleep(this.pullMs, { signal });
    return 101.5;
  }

  async save(price: number, fencingToken: number): Promise<void> {
    this.saved.push([price, fencingToken]);
  }
}
