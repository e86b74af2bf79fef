import { Injectable, Logger } from '@nestjs/common';
import { Interval } from 'nestjs-singleton-job';

/** Shows that somebody is alive: the smallest job there is. */
@Injectable()
export class Heartbeat {
  readonly #logger = new Logger(Heartbeat.name);

  // the next run comes one second after the end of this one, whoever leads by then
  @Interval('1s', { name: 'heartbeat' })
  beat(): void {
    this.#logger.debug('beat');
  }
}
