import { Injectable } from '@nestjs/common';
import { type JobContext, JobHandler } from '../durable-jobs/job-handler.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';
import { ID_HEADER, sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from './verify-webhook.js';

const { retryDelays, timeout } = settings.webhook;

/** Announces the end of a report to its owner. BullMQ starts it when the report has ended: it is the report's parent in a flow. */
@Injectable()
export class WebhookHandler {
  constructor(private readonly store: JobStore) {}

  @JobHandler('webhook', { retries: retryDelays.length, retryDelay: retryDelays, timeout })
  async deliver(
    { report, user }: { report: string; user: string },
    { id, signal }: JobContext,
  ): Promise<number | null> {
    const webhook = settings.users.find(({ name }) => name === user)?.webhook;
    if (webhook === undefined) return null;
    const info = await this.store.find(report);
    const body = JSON.stringify({ report, status: info?.status ?? 'Cancelled', error: info?.error ?? null });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        // the same for every retry: the receiver handles it once
        [ID_HEADER]: id,
        [TIMESTAMP_HEADER]: timestamp,
        [SIGNATURE_HEADER]: `v1=${sign(webhook.secret, id, timestamp, body)}`,
      },
      body,
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver answered ${String(response.status)}`);
    return response.status;
  }
}
