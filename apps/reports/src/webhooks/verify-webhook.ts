import { createHmac, timingSafeEqual } from 'node:crypto';

export const ID_HEADER = 'webhook-id';
export const TIMESTAMP_HEADER = 'webhook-timestamp';
export const SIGNATURE_HEADER = 'webhook-signature';

const WINDOW_S = 300;

/** HMAC-SHA256 over the id, the time and the raw body, in hexadecimal. */
export function sign(secret: string, id: string, timestamp: string, rawBody: string | Buffer): string {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(rawBody).digest('hex');
}

export interface WebhookRequest {
  /** With names in lower case, as Node has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes that arrived: JSON that was parsed and written again has another signature. */
  readonly rawBody: Buffer;
  readonly secret: string;
  /**
   * Remembers an id, and returns whether it is new. In Redis: `SET id 1 NX EX 3600`. The retries of one webhook come within 40 minutes:
   * remember ids for one hour or longer.
   */
  readonly isNew: (id: string) => boolean | Promise<boolean>;
  /** ms since the epoch. @default now */
  readonly now?: number;
}

/** Answer `accepted` and `duplicate` with 200, and the others with 401. The sender tries again unless the answer is 2xx. */
export type WebhookVerdict = 'accepted' | 'duplicate' | 'bad signature' | 'outside the time window';

/**
 * For receivers: checks the signature, the time, and that the webhook is new. Forget the id when you could not handle an accepted webhook:
 * its retry would be a duplicate.
 * @example
 * const verdict = await verifyWebhook({ headers: request.headers, rawBody, secret, isNew });
 * if (verdict === 'accepted') {
 *   await handle(JSON.parse(rawBody.toString())).catch(async (error) => {
 *     await redis.del(id); // what isNew() has set
 *     throw error; // answered with 500
 *   });
 * }
 */
export async function verifyWebhook({
  headers,
  rawBody,
  secret,
  isNew,
  now = Date.now(),
}: WebhookRequest): Promise<WebhookVerdict> {
  const header = (name: string): string => String(headers[name]);
  const [id, timestamp] = [header(ID_HEADER), header(TIMESTAMP_HEADER)];
  const expected = Buffer.from(`v1=${sign(secret, id, timestamp, rawBody)}`);
  const given = Buffer.from(header(SIGNATURE_HEADER));
  // lengths are no secret, and timingSafeEqual refuses two of different length
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'bad signature';
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= WINDOW_S)) return 'outside the time window';
  return (await isNew(id)) ? 'accepted' : 'duplicate';
}
