import { createHash, randomUUID } from 'node:crypto';
import { Injectable, UnprocessableEntityException } from '@nestjs/common';
import { JobScheduler } from '../durable-jobs/job-scheduler.js';
import type { JobInfo } from '../durable-jobs/job-store.js';
import { AppRedis, key } from '../redis.js';
import { settings, type User } from '../settings.js';
import type { ReportPayload } from './report-handler.js';
import type { ReportRequest } from './report-request.js';

/** Idempotency keys are kept for as long as results: their jobs are kept for longer. */
const ttl = settings.report.resultTtl;

/** Takes requests for reports, each of them once. */
@Injectable()
export class Submissions {
  constructor(
    private readonly scheduler: JobScheduler,
    private readonly redis: AppRedis,
  ) {}

  /** Returns the id of the report: with an idempotency key that was used before, the id of the first one. */
  async submit(user: User, request: ReportRequest, idempotencyKey?: string): Promise<string> {
    const id = `report-${randomUUID()}`;
    if (idempotencyKey === undefined) {
      await this.#enqueue(id, user, request);
      return id;
    }

    const body = createHash('sha256').update(JSON.stringify(request)).digest('hex');
    const recordKey = key('idempotency', user.name, idempotencyKey);
    await this.redis.set(recordKey, JSON.stringify({ id, body }), 'PX', ttl, 'NX');
    const first = JSON.parse((await this.redis.get(recordKey)) ?? '') as { id: string; body: string };
    if (first.body !== body) {
      throw new UnprocessableEntityException('This Idempotency-Key was used for another request');
    }
    // a process that died in between has left a record without a job
    if ((await this.scheduler.getStatus(first.id)) === null)
      await this.#enqueue(first.id, user, request, idempotencyKey);
    else await this.#list(first.id, user);
    return first.id;
  }

  /** The newest reports of a user. */
  async list(user: User, offset: number, limit: number): Promise<JobInfo[]> {
    const ids = await this.redis.zrevrange(key('reports', user.name), offset, offset + limit - 1);
    const found = await Promise.all(ids.map((id) => this.scheduler.getStatus(id)));
    return found.filter((info) => info !== null);
  }

  async #enqueue(id: string, user: User, request: ReportRequest, idempotencyKey?: string): Promise<void> {
    const to = request.to ?? Date.now();
    const payload: ReportPayload = { ...request, owner: user.name, from: request.from ?? 0, to };
    await this.scheduler.enqueue('report', payload, {
      id,
      priority: request.priority,
      ...(idempotencyKey && { idempotencyKey }),
      ...(request.notify && {
        followedBy: { type: 'webhook', payload: { report: id, user: user.name }, id: `webhook-${id}` },
      }),
    });
    await this.#list(id, user);
  }

  /** After the job: an entry without one would stay. A report that is listed keeps its place. */
  async #list(id: string, user: User): Promise<void> {
    const now = Date.now();
    const list = key('reports', user.name);
    const listing = this.redis
      .multi()
      .zadd(list, 'NX', now, id)
      .zremrangebyscore(list, 0, now - settings.keepFinishedMs);
    await listing.pexpire(list, settings.keepFinishedMs).exec();
  }
}
