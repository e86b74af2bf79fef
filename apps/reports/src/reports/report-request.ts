import { BadRequestException } from '@nestjs/common';

const OUTCOMES = ['succeeded', 'failed', 'cancelled'];
const FIELDS = ['title', 'from', 'to', 'job', 'outcomes', 'priority', 'notify'];

/** What a client requests. Times are ms since the epoch. */
export interface ReportRequest {
  readonly title: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly job: string | null;
  readonly outcomes: readonly string[];
  readonly priority: number;
  /** Whether the end of the report is announced to the user's webhook. */
  readonly notify: boolean;
}

/**
 * Reads the body and the idempotency key of a request.
 * @throws BadRequestException with all problems at once
 */
export function readReportRequest(body: unknown, idempotencyKey?: string): ReportRequest {
  const problems: string[] = [];
  const check = (isValid: boolean, problem: string): boolean => {
    if (!isValid) problems.push(problem);
    return isValid;
  };

  if (idempotencyKey !== undefined) {
    check(/^[\x21-\x7e]{1,64}$/.test(idempotencyKey), 'Idempotency-Key must have 1 to 64 visible ASCII characters');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequestException({ statusCode: 400, problems: [...problems, 'the body must be a JSON object'] });
  }
  const { title, from, to, job, outcomes, priority, notify } = body as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(body)) check(FIELDS.includes(name), `${name} is not a field of a report`);

  if (check(typeof title === 'string', 'title must be a text')) {
    const length = (title as string).trim().length;
    check(length >= 1 && length <= 100, 'title must have 1 to 100 characters');
  }
  const time = (name: string, value: unknown): number | null => {
    if (value === undefined) return null;
    const isTime =
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(value);
    const ms = isTime ? Date.parse(value) : Number.NaN;
    check(!Number.isNaN(ms), `${name} must be a time as in 2027-01-31T18:00:00Z`);
    return Number.isNaN(ms) ? null : ms;
  };
  const [fromMs, toMs] = [time('from', from), time('to', to)];
  if (fromMs !== null) check(fromMs >= 0 && fromMs <= Date.now(), 'from must not be in the future or before 1970');
  if (fromMs !== null && toMs !== null) check(fromMs < toMs, 'from must be before to');
  if (job !== undefined) check(typeof job === 'string' && /^[\w.-]{1,100}$/.test(job), 'job must be the name of a job');
  if (outcomes !== undefined && check(Array.isArray(outcomes), 'outcomes must be a list')) {
    const list = outcomes as unknown[];
    check(list.length > 0, 'outcomes must not be empty');
    check(new Set(list).size === list.length, 'outcomes must not name one twice');
    check(
      list.every((one) => OUTCOMES.includes(one as string)),
      `outcomes must be of ${OUTCOMES.join(', ')}`,
    );
  }
  if (priority !== undefined) {
    const isValid = Number.isInteger(priority) && (priority as number) >= 0 && (priority as number) <= 10;
    check(isValid, 'priority must be a whole number from 0 to 10');
  }
  if (notify !== undefined) check(typeof notify === 'boolean', 'notify must be true or false');
  if (problems.length > 0) throw new BadRequestException({ statusCode: 400, problems });

  return {
    title: (title as string).trim(),
    from: fromMs,
    to: toMs,
    job: (job as string | undefined) ?? null,
    outcomes: [...((outcomes as string[] | undefined) ?? OUTCOMES)].sort(),
    priority: (priority as number | undefined) ?? 0,
    notify: (notify as boolean | undefined) ?? false,
  };
}
