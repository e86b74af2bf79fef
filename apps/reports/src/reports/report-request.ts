import { BadRequestException } from '@nestjs/common';
import { z } from 'zod';

const OUTCOMES = ['cancelled', 'failed', 'succeeded'] as const;

/** In ms since the epoch. */
const time = z.iso
  .datetime({ offset: true, error: 'must be a time as in 2027-01-31T18:00:00Z' })
  .transform((text) => Date.parse(text));

/** What a client requests. */
export const reportRequest = z
  .strictObject({
    title: z
      .string('must be a text')
      .trim()
      .refine(({ length }) => length >= 1 && length <= 100, 'must have 1 to 100 characters'),
    from: time
      .refine((ms) => ms >= 0 && ms <= Date.now(), 'must not be in the future or before 1970')
      .nullable()
      .default(null),
    to: time.nullable().default(null),
    job: z
      .string()
      .regex(/^[\w.-]{1,100}$/)
      .nullable()
      .default(null),
    outcomes: z
      .array(z.enum(OUTCOMES))
      .min(1)
      .refine((all) => new Set(all).size === all.length, 'must not name one twice')
      .transform((all) => all.sort())
      .default([...OUTCOMES]),
    priority: z.int().min(0).max(10).default(0),
    /** Whether the end of the report is announced to the user's webhook. */
    notify: z.boolean().default(false),
  })
  .refine(({ from, to }) => from === null || to === null || from < to, { path: ['from'], error: 'must be before to' });
export type ReportRequest = z.infer<typeof reportRequest>;

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,64}$/, 'must have 1 to 64 visible ASCII characters')
  .optional();

/** Of a query. */
export const page = z.object({
  offset: z.coerce.number().int().min(0).max(10_000).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** @throws BadRequestException with all problems at once */
export function parse<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const { data, error } = schema.safeParse(given);
  if (error === undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new BadRequestException({ statusCode: 400, problems });
}
