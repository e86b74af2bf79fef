import { type ConfigType, registerAs } from '@nestjs/config';
import { hostname } from 'node:os';
import { z } from 'zod';

const MAX_TIMER_MS = 2 ** 31 - 1;
const MONTH_MS = 30 * 86_400_000;

const whole = (least: number, most: number) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: ({ input }) => `must be a whole number from ${String(least)} to ${String(most)}, got "${String(input)}"`,
    })
    .transform(Number);
const count = (fallback: number, least: number, most: number) => whole(least, most).prefault(String(fallback));
/** Node fires a timer with a longer delay at once. */
const milliseconds = (fallback: number, least = 1) => count(fallback, least, MAX_TIMER_MS);
const token = z.string().min(16);

/** A person or a service that may request reports. */
const user = z.strictObject({
  name: z.string().regex(/^[\w-]+$/),
  token,
  /** Where the end of each report is announced, and the secret that signs the announcement. */
  webhook: z
    .strictObject({
      url: z.url({ protocol: /^https?$/ }),
      secret: z
        .string()
        .regex(/^whsec_(?:[\w+/]{4}){8,}(?:[\w+/]{2,3}=*)?$/, 'must be whsec_ and 24 bytes or more in base64'),
    })
    .optional(),
});
export type User = z.infer<typeof user>;

const users = z
  .string({ error: 'must be a JSON list of { name, token, webhook? }' })
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(z.array(user).min(1))
  .refine((all) => new Set(all.flatMap(({ name, token }) => [name, token])).size === 2 * all.length, {
    error: 'must have a name and a token of its own for each user',
  });

const variables = z
  .object({
    USERS: users,
    OPERATOR_TOKEN: token,
    REDIS_URL: z.url({ protocol: /^rediss?$/ }).default('redis://127.0.0.1:6379'),
    PROJECT_NAME: z
      .string()
      .regex(/^[\w-]+$/)
      .default('reports'),
    REDIS_TIMEOUT_MS: milliseconds(2_000),
    HOST: z.string().default('127.0.0.1'),
    PORT: count(0, 0, 65_535),
    NODE_ID: z.string().default(`${hostname()}-${String(process.pid)}`),
    TIME_ZONE: z.string().default('UTC'),
    DAILY_CRON: z.string().default('0 3 * * *'),
    LOCK_EXPIRY_MS: milliseconds(10_000),
    STREAM_LIMIT_MS: milliseconds(300_000),
    RESULT_TTL_MS: count(86_400_000, 1, MONTH_MS / 2),
    CONCURRENCY: count(4, 1, 1_000),
    LOCK_DURATION_MS: milliseconds(30_000),
    STALLED_INTERVAL_MS: milliseconds(30_000),
    MAX_STALLED_COUNT: count(10, 0, 1_000),
    UNKNOWN_TYPE_DELAY_MS: milliseconds(10_000),
    STOP_LIMIT_MS: milliseconds(20_000),
    REPORT_TIMEOUT_MS: milliseconds(300_000),
    REPORT_RETRY_DELAY_MS: milliseconds(1_000, 0),
    WEBHOOK_TIMEOUT_MS: milliseconds(10_000),
    /** Waiting times before the five retries. */
    WEBHOOK_RETRY_DELAYS_MS: z
      .string()
      .default('1000,5000,30000,300000,1800000')
      .transform((text) => text.split(','))
      .pipe(z.array(whole(0, MAX_TIMER_MS)).length(5)),
  })
  .refine(({ USERS, OPERATOR_TOKEN }) => USERS.every((one) => one.token !== OPERATOR_TOKEN), {
    path: ['OPERATOR_TOKEN'],
    error: 'must not be the token of a user',
  });

/** All mistakes in the environment at once. */
export class InvalidSettingsError extends Error {
  constructor({ issues }: z.ZodError) {
    super(
      `Cannot start with these settings:\n${issues.map((one) => `  - ${one.path.join('.')}: ${one.message}`).join('\n')}`,
    );
  }
}

/** The environment of web replicas and workers. README.md has the important ones. */
export const settings = registerAs('settings', () => {
  const { data, error } = variables.safeParse(process.env);
  if (error) throw new InvalidSettingsError(error);
  return data;
});
export type Settings = ConfigType<typeof settings>;
