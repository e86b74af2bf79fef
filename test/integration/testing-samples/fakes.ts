// fakes.ts
import { type ManualClock } from 'nestjs-singleton-job/testing';
import { type PriceFeed, type PriceTable } from './prices.js';

/** Keeps each row as `price by token`. */
export class FakeTable implements PriceTable {
  readonly rows: string[] = [];

  async write(price: number, fencingToken: number): Promise<void> {
    this.rows.push(`${price} by ${fencingToken}`);
  }
}

/** Takes some time on the clock of the test, and rejects when the signal fires. */
export class SlowFeed implements PriceFeed {
  constructor(
    private readonly clock: ManualClock,
    private readonly takesMs: number,
  ) {}

  async pull({ signal }: { signal: AbortSignal }): Promise<number> {
    await this.clock.sleep(this.takesMs, { signal });
    return 101.5;
  }
}
