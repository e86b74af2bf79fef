import { Injectable, Logger } from '@nestjs/common';
import { PriceFeed } from './price-feed.js';
import { type JobRun, Once } from 'nestjs-singleton-job';

/** What has to be done once after each deploy, and not on each replica. */
@Injectable()
export class WarmUp {
  readonly #logger = new Logger(WarmUp.name);

  constructor(private readonly feed: PriceFeed) {}

  // without a version it would run once for ever
  @Once('warm-up', { version: process.env['APP_VERSION'] ?? 'dev' })
  async warmUp({ signal }: JobRun): Promise<void> {
    await this.feed.pull({ signal });
    this.#logger.log('the feed is warm');
  }
}
