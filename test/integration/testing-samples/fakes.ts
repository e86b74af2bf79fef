// fakes.ts
import { PriceApi } from './prices.js';
import { ManualClock } from 'nestjs-singleton-job/testing';

/** A pull that takes time never ends, but rejects when the signal fires. */
export class FakeApi extends PriceApi {
  readonly saved: number[][] = [];

  constructor(private readonly pullMs = 0) {
    super();
  }

  async pull({ signal }: { signal: AbortSignal }): Promise<number> {
    if (this.pullMs > 0) await new ManualClock().sleep(this.pullMs, { signal });
    return 101.5;
  }

  async save(price: number, fencingToken: number): Promise<void> {
    this.saved.push([price, fencingToken]);
  }
}
