import { Controller, HttpCode, Post, UseFilters } from '@nestjs/common';
import { type ImportedPrices, PriceImport } from './price-import.js';
import { LockFilter } from './lock.filter.js';

@Controller('prices')
@UseFilters(LockFilter)
export class PricesController {
  constructor(private readonly prices: PriceImport) {}

  /** Answers when all are there. 423: some replica is at it. 503: nobody can say, or the lock was lost on the way. */
  @Post('import')
  @HttpCode(200)
  import(): Promise<ImportedPrices> {
    return this.prices.run();
  }
}
