import { Controller, Get, HttpCode, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import { LockFilter } from '../prices/lock.filter.js';
import { InvalidOptionsFilter } from './invalid-options.filter.js';
import { UnknownJobFilter } from './unknown-job.filter.js';
import {
  duration,
  type JobStatus,
  type PauseOptions,
  SingletonJobRegistry,
  type StepDownResult,
  type TriggerResult,
} from 'nestjs-singleton-job';

/** The part of an Express response that is used here. */
interface Response {
  status(code: number): unknown;
}

/**
 * The jobs, for an operator. Any replica answers. Every client that reaches it can run and pause jobs: see HOST in
 * README.md.
 */
@Controller('jobs')
@UseFilters(UnknownJobFilter, InvalidOptionsFilter, LockFilter)
export class JobsController {
  constructor(private readonly jobs: SingletonJobRegistry) {}

  @Get()
  list(): readonly JobStatus[] {
    return this.jobs.list();
  }

  @Get(':name')
  get(@Param('name') name: string): JobStatus {
    return this.jobs.get(name);
  }

  /**
   * 202: the job runs on its leader. With `?wait=5m` the response comes when the run has ended, and has its outcome.
   * 409: it does not run; the body has the reason and the leader.
   */
  @Post(':name/trigger')
  async trigger(
    @Param('name') name: string,
    @Query('wait') wait: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TriggerResult> {
    const result = await (wait === undefined
      ? this.jobs.trigger(name)
      : this.jobs.trigger(name, { wait: duration(wait) }));
    response.status(result.started ? 202 : 409);
    return result;
  }

  /** Pauses all jobs, such as with `?until=2h&reason=migration`. 400: a mistake. 503: Redis has not confirmed it. */
  @Post('pause')
  @HttpCode(204)
  pauseAll(@Query() options: PauseOptions): Promise<void> {
    return this.jobs.pauseAll({ ...options });
  }

  @Post('resume')
  @HttpCode(204)
  resumeAll(): Promise<void> {
    return this.jobs.resumeAll();
  }

  /** Pauses the job on all replicas, as all jobs. */
  @Post(':name/pause')
  @HttpCode(204)
  pause(@Param('name') name: string, @Query() options: PauseOptions): Promise<void> {
    return this.jobs.pause(name, { ...options });
  }

  @Post(':name/resume')
  @HttpCode(204)
  resume(@Param('name') name: string): Promise<void> {
    return this.jobs.resume(name);
  }

  /** Hands the job over to another replica. */
  @Post(':name/step-down')
  @HttpCode(200)
  stepDown(@Param('name') name: string): Promise<StepDownResult> {
    return this.jobs.stepDown(name);
  }
}
