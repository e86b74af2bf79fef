// prices.ts
import { Injectable } from '@nestjs/common';
import { FixedRate, type JobRun } from 'nestjs-singleton-job';

/** Your feed and your database. */
export abstract class PriceApi {
  abstract pull(options: { signal: AbortSignal }): Promise<number>;
  abstract save(price: number, fencingToken: number): Promise<void>;
}

@Injectable()
export class Prices {
  constructor(private readonly api: PriceApi) {}

  @FixedRate('2s', { name: 'price-tick' })
  async tick(run: JobRun): Promise<void> {
    const price = await this.api.pull({ signal: run.signal });
    run.assertLeader();
    await this.api.save(price, run.fencingToken);
  }
}
