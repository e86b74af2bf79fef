import { cronError } from './cron-error.js';
import { splitCron } from './cron-text.js';
import { FIELD_RULES, type FieldName, type FieldValues, readField } from './read-field.js';

/** The values that each field of a cron expression allows. */
export type CronFields = Readonly<Record<FieldName, FieldValues>>;

/** Most crons of an application have the same few fields, and reading them takes most of the start of 1,000 jobs. */
const known = new Map<string, FieldValues>();
const MAX_KNOWN = 1_000;

/**
 * Reads the fields of a canonical expression.
 *
 * @throws InvalidScheduleError for another number of fields, or naming the first one that cannot be read
 */
export function readFields(words: string): CronFields {
  const texts = splitCron(words);
  const names = Object.keys(FIELD_RULES) as FieldName[];
  return Object.fromEntries(names.map((name, index) => [name, read(name, texts[index] ?? '', words)])) as CronFields;
}

function read(name: FieldName, text: string, words: string): FieldValues {
  try {
    const key = `${name} ${text}`;
    const values = known.get(key) ?? readField(text, name);
    if (known.size < MAX_KNOWN) known.set(key, values);
    return values;
  } catch (cause) {
    const rule = `${name} field must be ${FIELD_RULES[name].expected}, or *, a list, range or step of them`;
    throw cronError(rule, words, { field: text, cause });
  }
}
