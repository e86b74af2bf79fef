import { Controller, HttpCode, Post, UseFilters } from '@nestjs/common';
import { LockFilter } from './lock.filter.js';
import { type ImportedPrices, PriceImport } from './price-import.js';

@Controller('prices')
@UseFilters(LockFilter)
export class PricesController {
  constructor(private readonly prices: PriceImport) {}

  /**
   * Responds when the import is done. 409: a replica is importing already. 503: Redis did not answer, or the lock was
   * lost.
   */
  @Post('import')
  @HttpCode(200)
  import(): Promise<ImportedPrices> {
    return this.prices.run();
  }
}
