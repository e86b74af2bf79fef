import { Injectable, Logger } from '@nestjs/common';
import { PriceFeed } from './price-feed.js';
import { FixedRate, type JobRun } from 'nestjs-singleton-job';

@Injectable()
export class Prices {
  readonly #logger = new Logger(Prices.name);

  constructor(private readonly feed: PriceFeed) {}

  // ticks are dropped, never queued, while a slow pull is in flight
  @FixedRate('500ms', { name: 'price-tick' })
  async tick(run: JobRun): Promise<void> {
    const price = await this.feed.pull({ signal: run.signal });
    // RunLogger adds the run to the line
    this.#logger.debug(price.toFixed(2));
  }
}
