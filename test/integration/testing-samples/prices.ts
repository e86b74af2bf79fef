// prices.ts
import { Inject, Injectable } from '@nestjs/common';
import { FixedRate, type JobRun } from 'nestjs-singleton-job';

export interface PriceFeed {
  pull(options: { signal: AbortSignal }): Promise<number>;
}

export interface PriceTable {
  write(price: number, fencingToken: number): Promise<void>;
}

@Injectable()
export class Prices {
  constructor(
    @Inject('price feed') private readonly feed: PriceFeed,
    @Inject('price table') private readonly table: PriceTable,
  ) {}

  @FixedRate('1s', { name: 'price-tick' })
  async tick(run: JobRun): Promise<void> {
    const price = await this.feed.pull({ signal: run.signal });
    run.assertLeader();
    await this.table.write(price, run.fencingToken);
  }
}
