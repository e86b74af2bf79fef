import { Injectable, Logger } from '@nestjs/common';
import { LockService } from 'nestjs-singleton-job';
import { PriceFeed } from './price-feed.js';

export interface ImportedPrices {
  readonly prices: number;
  readonly fencingToken: number;
}

/** What has no schedule: somebody asks for it, whichever replica is reached, and twice at once would be once too often. */
@Injectable()
export class PriceImport {
  readonly #logger = new Logger(PriceImport.name);

  constructor(
    private readonly locks: LockService,
    private readonly feed: PriceFeed,
  ) {}

  /** @throws LockUnavailableError while any replica is at it */
  run(): Promise<ImportedPrices> {
    return this.locks.withLock('price-import', async ({ signal, fencingToken }) => {
      const prices = await this.feed.history({ signal });
      this.#logger.log(`imported ${prices} prices under token ${fencingToken}`);
      return { prices, fencingToken };
    });
  }
}
