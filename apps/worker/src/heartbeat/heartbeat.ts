import { Injectable, Logger } from '@nestjs/common';
import { Interval } from 'nestjs-singleton-job';

/** The smallest job: it shows that a replica is alive. */
@Injectable()
export class Heartbeat {
  readonly #logger = new Logger(Heartbeat.name);

  // the next run starts one second after the end of this run, on the leader at that time
  @Interval('1s', { name: 'heartbeat' })
  beat(): void {
    this.#logger.debug('beat');
  }
}
