import { type Clock } from 'nestjs-singleton-job/testing';
import { type PriceFeed, type PriceTable } from './prices.js';

/** Keeps what is written, as `price by token`. */
export class FakeTable implements PriceTable {
  readonly rows: string[] = [];

  async write(price: number, fencingToken: number): Promise<void> {
    this.rows.push(`${price} by ${fencingToken}`);
  }
}

/** Takes its time by the clock of the test, and gives up when it is told to. */
export class SlowFeed implements PriceFeed {
  constructor(
    private readonly clock: Clock,
    private readonly takesMs: number,
  ) {}

  pull({ signal }: { signal: AbortSignal }): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimer(this.takesMs, () => {
        resolve(101.5);
      });
      signal.addEventListener('abort', () => {
        timer.cancel();
        reject(signal.reason as Error);
      });
    });
  }
}
