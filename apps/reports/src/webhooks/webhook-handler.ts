import { Injectable } from '@nestjs/common';
import { type JobContext, JobHandler } from '../durable-jobs/job-handler.js';
import { hasEnded } from '../durable-jobs/job-states.js';
import { JobStore } from '../durable-jobs/job-store.js';
import { settings } from '../settings.js';
import { ID_HEADER, sign, SIGNATURE_HEADER, TIMESTAMP_HEADER } from './verify-webhook.js';

const { retryDelays, timeout } = settings.webhook;

interface WebhookPayload {
  readonly report: string;
  readonly user: string;
  /** What the first run announced. The retries of the delivery announce the same, whatever has become of the report. */
  readonly body?: string;
}

/** Announces the end of a report to its owner. BullMQ starts it when the report has ended: it is the report's parent in a flow. */
@Injectable()
export class WebhookHandler {
  constructor(private readonly store: JobStore) {}

  @JobHandler('webhook', { retries: retryDelays.length, retryDelay: retryDelays, timeout })
  async deliver(payload: WebhookPayload, { id, signal, updatePayload }: JobContext): Promise<number | null> {
    const webhook = settings.users.find(({ name }) => name === payload.user)?.webhook;
    if (webhook === undefined) return null;
    const body = payload.body ?? (await this.#announce(payload.report));
    if (payload.body === undefined) await updatePayload({ ...payload, body });
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

  async #announce(report: string): Promise<string> {
    const { status, error } = (await this.store.find(report)) ?? { status: 'Cancelled', error: null };
    // one that has not ended was dead, and a person has retried it since
    return JSON.stringify({ report, status: hasEnded(status) ? status : 'DeadLettered', error });
  }
}
