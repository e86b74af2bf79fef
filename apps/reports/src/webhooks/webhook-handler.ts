import { Inject, Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { type JobContext, JobHandler } from '../durable-jobs/job-handler.js';
import { hasEnded, JobStore } from '../durable-jobs/job-store.js';
import { reasonOf } from '../reports/report-view.js';
import { type Settings, settings } from '../settings.js';

interface WebhookPayload {
  readonly report: string;
  readonly user: string;
  /** What the first run announced. The retries of the delivery announce the same, whatever has become of the report. */
  readonly body?: string;
}

/**
 * Announces the end of a report to its owner. BullMQ starts it when the report has ended: it is the report's parent in
 * a flow.
 */
@Injectable()
export class WebhookHandler {
  constructor(
    private readonly store: JobStore,
    @Inject(settings.KEY) private readonly env: Settings,
  ) {}

  /** The delays are those of `WEBHOOK_RETRY_DELAYS_MS`. */
  @JobHandler('webhook', { retries: 5, timeout: 10_000 })
  async deliver(payload: WebhookPayload, { id, signal, updatePayload }: JobContext): Promise<number> {
    const webhook = this.env.USERS.find(({ name }) => name === payload.user)?.webhook;
    if (webhook === undefined) throw new Error(`${payload.user} has no webhook any more`);
    const body = payload.body ?? (await this.#announce(payload.report));
    if (payload.body === undefined) await updatePayload({ ...payload, body });
    const now = new Date();
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        // the same for every retry: the receiver handles it once
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(webhook.secret).sign(id, now, body),
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
    const info = await this.store.getStatus(report);
    // one that has not ended was dead, and a person has retried it since
    const status = info === null || hasEnded(info.status) ? (info?.status ?? 'Cancelled') : 'DeadLettered';
    return JSON.stringify({ report, status, error: info && reasonOf({ ...info, status }) });
  }
}
