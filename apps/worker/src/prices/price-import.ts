import { Injectable, Logger } from '@nestjs/common';
import { PriceFeed } from './price-feed.js';
import { LockService } from 'nestjs-singleton-job';

export interface ImportedPrices {
  readonly prices: number;
  readonly fencingToken: number;
}

/** An operation without a schedule: any replica may get the request, but only one import may run at a time. */
@Injectable()
export class PriceImport {
  readonly #logger = new Logger(PriceImport.name);

  constructor(
    private readonly locks: LockService,
    private readonly feed: PriceFeed,
  ) {}

  /** @throws LockUnavailableError while a replica is importing */
  run(): Promise<ImportedPrices> {
    return this.locks.withLock('price-import', async ({ signal, fencingToken }) => {
      const prices = await this.feed.history({ signal });
      this.#logger.log(`imported ${prices} prices under token ${fencingToken}`);
      return { prices, fencingToken };
    });
  }
}
