import { Controller, Get, Optional, ServiceUnavailableException } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { JobWorker } from '../durable-jobs/job-worker.js';
import { AppRedis } from '../redis.js';

const ANSWER_WITHIN_MS = 2_000;

/** For the probes of an orchestrator. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly redis: AppRedis,
    @Optional() private readonly jobs?: JobWorker,
  ) {}

  /** Whether the process needs no restart. An outage of Redis does not count: a new process would not help. */
  @Get('live')
  live(): object {
    return { status: 'ok' };
  }

  /** Whether Redis answers and, in a worker, jobs are claimed. */
  @Get('ready')
  async ready(): Promise<object> {
    const answer = await Promise.race([this.redis.ping(), delay(ANSWER_WITHIN_MS)]).catch(() => undefined);
    if (answer === undefined) throw new ServiceUnavailableException('Redis does not answer');
    if (this.jobs?.worker.isRunning() === false) throw new ServiceUnavailableException('No jobs are claimed');
    return { status: 'ok' };
  }
}
