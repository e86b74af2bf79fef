import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Delete,
  Get,
  GoneException,
  Header,
  Headers,
  HttpCode,
  type MessageEvent,
  NotFoundException,
  Param,
  Post,
  Query,
  Res,
  Sse,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { JobScheduler } from '../durable-jobs/job-scheduler.js';
import type { JobInfo } from '../durable-jobs/job-store.js';
import { RedisAwayFilter } from '../redis.js';
import type { User } from '../settings.js';
import { ProgressFeed } from './progress-feed.js';
import type { ReportPayload } from './report-handler.js';
import { readReportRequest } from './report-request.js';
import { ReportStore } from './report-store.js';
import { Submissions } from './submissions.js';
import { BearerTokenGuard, CurrentUser } from './users.js';

const MAY_CHANGE = 'no-store, must-revalidate';

@Controller('api/reports')
@UseGuards(BearerTokenGuard)
@UseFilters(RedisAwayFilter)
export class ReportsController {
  constructor(
    private readonly scheduler: JobScheduler,
    private readonly submissions: Submissions,
    private readonly reports: ReportStore,
    private readonly feed: ProgressFeed,
  ) {}

  @Post()
  @HttpCode(202)
  async submit(
    @Body() body: unknown,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @CurrentUser() user: User,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const id = await this.submissions.submit(user, readReportRequest(body, idempotencyKey), idempotencyKey);
    response.set({ Location: urlOf(id), 'Retry-After': '5', 'Cache-Control': MAY_CHANGE });
    return { id, statusUrl: urlOf(id) };
  }

  @Get()
  @Header('Cache-Control', MAY_CHANGE)
  async list(
    @Query('offset') offset: string | undefined,
    @Query('limit') limit: string | undefined,
    @CurrentUser() user: User,
  ): Promise<object[]> {
    const found = await this.submissions.list(user, count('offset', offset, 0, 10_000), count('limit', limit, 20, 100));
    return found.map(toBody);
  }

  @Get(':id')
  @Header('Cache-Control', MAY_CHANGE)
  async status(@Param('id') id: string, @CurrentUser() user: User, @Res({ passthrough: true }) response: Response) {
    const info = await this.#find(id, user);
    response.setHeader('Cache-Control', cacheControl(info));
    if (info.status === 'Completed') response.status(303).setHeader('Location', `${urlOf(id)}/result`);
    else if (info.status === 'Running') response.setHeader('Retry-After', '1');
    else if (info.status === 'Pending' || info.status === 'Failed') response.setHeader('Retry-After', '3');
    return toBody(info);
  }

  @Get(':id/result')
  @Header('Cache-Control', 'no-store')
  async result(@Param('id') id: string, @CurrentUser() user: User, @Res({ passthrough: true }) response: Response) {
    const { status } = await this.#find(id, user);
    if (status !== 'Completed') throw new ConflictException(`There is no result: the report is ${status}`);
    const csv = await this.reports.result(id);
    if (csv === null) throw new GoneException('The result has expired');
    response.set({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${id}.csv"`,
    });
    return csv;
  }

  /** 204 when the report is cancelled, 202 while its worker ends the run. */
  @Delete(':id')
  async cancel(@Param('id') id: string, @CurrentUser() user: User, @Res({ passthrough: true }) response: Response) {
    await this.#find(id, user, { owned: true });
    if (!(await this.scheduler.cancel(id))) throw new ConflictException('The report has ended');
    const isCancelled = (await this.scheduler.getStatus(id))?.status === 'Cancelled';
    response.status(isCancelled ? 204 : 202);
    if (!isCancelled) response.set({ Location: urlOf(id), 'Retry-After': '1' });
  }

  @Post(':id/retry')
  @HttpCode(202)
  async retry(@Param('id') id: string, @CurrentUser() user: User, @Res({ passthrough: true }) response: Response) {
    await this.#find(id, user, { owned: true });
    if (!(await this.scheduler.retry(id))) throw new ConflictException('Only a report that failed can be tried again');
    response.set({ Location: urlOf(id), 'Retry-After': '3' });
  }

  @Sse(':id/progress')
  async progress(@Param('id') id: string, @CurrentUser() user: User): Promise<Observable<MessageEvent>> {
    await this.#find(id, user);
    return this.feed.of(id, toBody);
  }

  /** Other users must not learn that the report exists: 404 and not 403. */
  async #find(id: string, user: User, { owned = false } = {}): Promise<JobInfo> {
    const info = /^report-[\w-]+$/.test(id) ? await this.scheduler.getStatus(id) : null;
    const owner = info && (info.payload as ReportPayload).owner;
    const isVisible = owner === user.name || (owner === null && !owned);
    if (info?.type !== 'report' || !isVisible) throw new NotFoundException('There is no such report');
    return info;
  }
}

const urlOf = (id: string): string => `/api/reports/${id}`;

function toBody(info: JobInfo) {
  const { id, status, progress, attempts, error, createdAt, startedAt, completedAt, nextRunAt } = info;
  const { title } = info.payload as ReportPayload;
  return { id, title, status, progress, attempts, error, createdAt, startedAt, completedAt, nextRunAt };
}

/** A status that is final may be cached, by everybody if everybody may see it. */
function cacheControl({ status, payload }: Pick<JobInfo, 'status' | 'payload'>): string {
  if (status !== 'Completed' && status !== 'Cancelled') return MAY_CHANGE;
  return `${(payload as ReportPayload).owner === null ? 'public' : 'private'}, max-age=3600`;
}

function count(name: string, text: string | undefined, fallback: number, most: number): number {
  const value = Number(text ?? fallback);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new BadRequestException({
    statusCode: 400,
    problems: [`${name} must be a whole number from 0 to ${String(most)}`],
  });
}
