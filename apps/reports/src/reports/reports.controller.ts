import {
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
import { z } from 'zod';
import { DurableJobs } from '../durable-jobs/durable-jobs.js';
import { type JobInfo, JobStore } from '../durable-jobs/job-store.js';
import { RedisAwayFilter } from '../redis.js';
import type { User } from '../settings.js';
import { ProgressFeed } from './progress-feed.js';
import type { ReportPayload } from './report-handler.js';
import { idempotencyKey, page, parse, reportRequest } from './report-request.js';
import { ReportStore } from './report-store.js';
import { toBody, urlOf } from './report-view.js';
import { Submissions } from './submissions.js';
import { CurrentUser, UserGuard } from './users.js';

const MAY_CHANGE = 'no-store, must-revalidate';
const REQUEST = z.object({ 'Idempotency-Key': idempotencyKey, body: reportRequest });

@Controller('api/reports')
@UseGuards(UserGuard)
@UseFilters(RedisAwayFilter)
export class ReportsController {
  constructor(
    private readonly jobs: DurableJobs,
    private readonly store: JobStore,
    private readonly submissions: Submissions,
    private readonly reports: ReportStore,
    private readonly feed: ProgressFeed,
  ) {}

  @Post()
  @HttpCode(202)
  async submit(
    @Body() body: unknown,
    @Headers('idempotency-key') key: string | undefined,
    @CurrentUser() user: User,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const request = parse(REQUEST, { 'Idempotency-Key': key, body });
    const id = await this.submissions.submit(user, request.body, key);
    const info = await this.store.getStatus(id);
    response.set({ Location: urlOf(id), 'Retry-After': '5', 'Cache-Control': MAY_CHANGE });
    return { id, status: info?.status ?? 'Pending', statusUrl: urlOf(id) };
  }

  @Get()
  @Header('Cache-Control', MAY_CHANGE)
  async list(@Query() query: unknown, @CurrentUser() user: User): Promise<object[]> {
    const { offset, limit } = parse(page, query);
    const ids = await this.reports.listed(user.name, offset, limit);
    const found = await Promise.all(ids.map((id) => this.store.getStatus(id)));
    return found.filter((info) => info !== null).map(toBody);
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
    if (!(await this.jobs.cancel(id))) throw new ConflictException('The report has ended');
    const isCancelled = (await this.store.getStatus(id))?.status === 'Cancelled';
    response.status(isCancelled ? 204 : 202);
    if (!isCancelled) response.set({ Location: urlOf(id), 'Retry-After': '1' });
  }

  @Post(':id/retry')
  @HttpCode(202)
  async retry(@Param('id') id: string, @CurrentUser() user: User, @Res({ passthrough: true }) response: Response) {
    await this.#find(id, user, { owned: true });
    if (!(await this.jobs.retry(id))) throw new ConflictException('Only a report that failed can be tried again');
    response.set({ Location: urlOf(id), 'Retry-After': '3' });
  }

  @Sse(':id/progress')
  async progress(@Param('id') id: string, @CurrentUser() user: User): Promise<Observable<MessageEvent>> {
    await this.#find(id, user);
    return this.feed.of(id);
  }

  /** Other users must not learn that the report exists: 404 and not 403. */
  async #find(id: string, user: User, { owned = false } = {}): Promise<JobInfo> {
    const info = /^report-[\w-]+$/.test(id) ? await this.store.getStatus(id) : null;
    const owner = info && (info.payload as ReportPayload).owner;
    const isVisible = owner === user.name || (owner === null && !owned);
    if (info?.type !== 'report' || !isVisible) throw new NotFoundException('There is no such report');
    return info;
  }
}

/** A status that is final may be cached, by everybody if everybody may see it. */
function cacheControl({ status, payload }: Pick<JobInfo, 'status' | 'payload'>): string {
  if (status !== 'Completed' && status !== 'Cancelled') return MAY_CHANGE;
  return `${(payload as ReportPayload).owner === null ? 'public' : 'private'}, max-age=3600`;
}
