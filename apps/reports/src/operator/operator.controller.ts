import {
  ConflictException,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  NotFoundException,
  Param,
  Post,
  Query,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { z } from 'zod';
import { DurableJobs } from '../durable-jobs/durable-jobs.js';
import { JobStore, STATUSES } from '../durable-jobs/job-store.js';
import { RedisAwayFilter } from '../redis.js';
import { page, parse } from '../reports/report-request.js';
import { OperatorGuard } from '../reports/users.js';

const query = page.extend({ status: z.enum(STATUSES).default('DeadLettered') });

/** The way out of the dead letter list: jobs of every type and user, with the texts of their exceptions. */
@Controller('api/operator/jobs')
@UseGuards(OperatorGuard)
@UseFilters(RedisAwayFilter)
export class OperatorController {
  constructor(
    private readonly jobs: DurableJobs,
    private readonly store: JobStore,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  async list(@Query() given: unknown): Promise<object[]> {
    const { status, offset, limit } = parse(query, given);
    return this.store.getJobs(status, offset, limit);
  }

  /** The job with its attempts. */
  @Get(':id')
  @Header('Cache-Control', 'no-store')
  async find(@Param('id') id: string): Promise<object> {
    const info = await this.store.getStatus(id);
    if (info === null) throw new NotFoundException('There is no such job');
    return { ...info, history: await this.store.getHistory(id) };
  }

  @Post(':id/retry')
  @HttpCode(202)
  async retry(@Param('id') id: string): Promise<void> {
    if (!(await this.jobs.retry(id))) throw new ConflictException('Only a job that failed can be tried again');
  }

  @Delete(':id')
  @HttpCode(202)
  async cancel(@Param('id') id: string): Promise<void> {
    if (!(await this.jobs.cancel(id))) throw new ConflictException('The job has ended');
  }
}
