import { Controller, Get, HttpCode, Param, Post, Res, UseFilters } from '@nestjs/common';
import { type JobStatus, SingletonJobRegistry, type TriggerResult } from 'nestjs-singleton-job';
import { UnknownJobFilter } from './unknown-job.filter.js';

/** What Express has, as far as it is needed here. */
interface Response {
  status(code: number): unknown;
}

/** The jobs of this replica, for a curious operator. Who may reach it may run and pause them: see HOST in README.md. */
@Controller('jobs')
@UseFilters(UnknownJobFilter)
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

  /** 202: it runs. 409: it does not, and the body says why, and who leads. */
  @Post(':name/trigger')
  async trigger(@Param('name') name: string, @Res({ passthrough: true }) response: Response): Promise<TriggerResult> {
    const result = await this.jobs.trigger(name);
    response.status(result.started ? 202 : 409);
    return result;
  }

  /** Of this replica only. Answers once the run in flight has settled and the lock is given back. */
  @Post(':name/pause')
  @HttpCode(200)
  async pause(@Param('name') name: string): Promise<JobStatus> {
    await this.jobs.pause(name);
    return this.get(name);
  }

  @Post(':name/resume')
  @HttpCode(200)
  resume(@Param('name') name: string): JobStatus {
    this.jobs.resume(name);
    return this.get(name);
  }

  /** Gives the job to another replica. */
  @Post(':name/step-down')
  @HttpCode(200)
  async stepDown(@Param('name') name: string): Promise<{ readonly steppedDown: boolean }> {
    return { steppedDown: await this.jobs.stepDown(name) };
  }
}
