// jobs.controller.ts
import { type ArgumentsHost, Catch, ConflictException, Controller, Get, NotFoundException } from '@nestjs/common';
import { Param, Post, ServiceUnavailableException, UseFilters } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { SingletonJobRegistry, StoreError, UnknownJobError } from 'nestjs-singleton-job';

@Catch(UnknownJobError, StoreError)
export class JobErrors extends BaseExceptionFilter {
  override catch(error: Error, host: ArgumentsHost): void {
    const Answer = error instanceof UnknownJobError ? NotFoundException : ServiceUnavailableException;
    super.catch(new Answer(error.message), host);
  }
}

@Controller('admin/jobs')
@UseFilters(JobErrors)
export class JobsController {
  constructor(private readonly jobs: SingletonJobRegistry) {}

  @Get()
  overview() {
    return this.jobs.overview();
  }

  @Post(':name/:action')
  async act(@Param('name') name: string, @Param('action') action: string) {
    if (action === 'pause') return this.jobs.pause(name);
    if (action === 'resume') return this.jobs.resume(name);
    if (action === 'step-down') return this.jobs.stepDown(name);
    if (action !== 'trigger') throw new NotFoundException();
    const result = await this.jobs.trigger(name);
    if (!result.started) throw new ConflictException(result);
    return result;
  }
}
