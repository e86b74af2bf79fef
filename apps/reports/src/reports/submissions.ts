import { Inject, Injectable, UnprocessableEntityException } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { DurableJobs } from '../durable-jobs/durable-jobs.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { AppRedis } from '../redis.js';
import { type Settings, settings, type User } from '../settings.js';
import type { ReportPayload } from './report-handler.js';
import type { ReportRequest } from './report-request.js';
import { ReportStore } from './report-store.js';

/** Takes requests for reports, each of them once. */
@Injectable()
export class Submissions {
  constructor(
    private readonly jobs: DurableJobs,
    private readonly store: JobStore,
    private readonly reports: ReportStore,
    private readonly redis: AppRedis,
    @Inject(settings.KEY) private readonly env: Settings,
  ) {}

  /** Returns the id of the report: with an idempotency key that was used before, the id of the first one. */
  async submit(user: User, request: ReportRequest, idempotencyKey?: string): Promise<string> {
    if (request.notify && user.webhook === undefined) {
      throw new UnprocessableEntityException('notify needs a webhook, and none is configured for this user');
    }
    const id = `report-${randomUUID()}`;
    const first = idempotencyKey === undefined ? id : await this.#firstId(id, user, request, idempotencyKey);
    // a process that died in between has left a record without a job
    const isNew = first === id || (await this.store.getStatus(first)) === null;
    if (isNew) await this.#enqueue(first, user, request, idempotencyKey);
    // after the job: an entry without one would stay
    await this.reports.list(user.name, first);
    return first;
  }

  /** The key is kept for as long as results: their jobs are kept for longer. */
  async #firstId(id: string, user: User, request: ReportRequest, idempotencyKey: string): Promise<string> {
    const body = createHash('sha256').update(JSON.stringify(request)).digest('hex');
    const key = `idempotency:${user.name}:${idempotencyKey}`;
    await this.redis.set(key, JSON.stringify({ id, body }), 'PX', this.env.RESULT_TTL_MS, 'NX');
    const first = JSON.parse((await this.redis.get(key)) ?? '') as { id: string; body: string };
    if (first.body === body) return first.id;
    throw new UnprocessableEntityException('This Idempotency-Key was used for another request');
  }

  async #enqueue(id: string, user: User, request: ReportRequest, idempotencyKey?: string): Promise<void> {
    const to = request.to ?? Date.now();
    const payload: ReportPayload = { ...request, owner: user.name, from: request.from ?? 0, to };
    const announcement = { type: 'webhook', payload: { report: id, user: user.name }, id: `webhook-${id}` };
    await this.jobs.enqueue('report', payload, {
      id,
      priority: request.priority,
      idempotencyKey,
      followedBy: request.notify ? announcement : undefined,
    });
  }
}
