import { isRecord } from './describe-value.js';
import { OPTION_FIXES, OVERRIDABLE } from './job-option-table.js';
import { OptionReader } from './option-reader.js';
import { resolveJobOptions } from './resolve-job-options.js';
import { type ResolvedJobOverrides } from './resolved-options.js';

const CRON_RULE = {
  expected: 'a cron expression',
  fix: "use five or six fields, as in '0 3 * * *'",
};

/** Reads `jobs`. */
export function resolveOverrides(
  reader: OptionReader,
  problems: string[],
): Readonly<Record<string, ResolvedJobOverrides>> {
  // without a prototype: a job may be called 'constructor'
  const overrides = Object.create(null) as Record<string, ResolvedJobOverrides>;
  const jobs = reader.get('jobs');
  if (jobs !== undefined && !isRecord(jobs)) {
    reader.refuse('jobs', 'an object of overrides by job name', "write it as { 'price-tick': { period: '1s' } }");
  }
  if (!isRecord(jobs)) return Object.freeze(overrides);
  for (const [name, raw] of Object.entries(jobs)) {
    if (raw === undefined) continue;
    if (isRecord(raw)) overrides[name] = resolveOverride(new OptionReader(raw, `jobs.${name}.`, problems));
    else new OptionReader(jobs, 'jobs.', problems).refuse(name, 'an object of options', "write it as { period: '1s' }");
  }
  return Object.freeze(overrides);
}

function resolveOverride(reader: OptionReader): ResolvedJobOverrides {
  reader.refuseUnknown(OVERRIDABLE, OPTION_FIXES);
  return Object.freeze({
    ...resolveJobOptions(reader),
    given: Object.freeze(OVERRIDABLE.filter((name) => reader.get(name) !== undefined)),
    periodMs: reader.duration('period'),
    delayMs: reader.duration('delay'),
    cron: reader.checked('cron', (value) => typeof value === 'string', CRON_RULE),
  });
}
