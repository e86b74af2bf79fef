import { MODULE_WORDS } from '../../advice/option-words.js';
import { didYouMean } from '../../advice/suggest.js';
import { type SingletonJobOptions } from '../singleton-job.options.js';
import { OPTION_FIXES, OVERRIDES } from '../table/job-option-table.js';
import { MODULE_OPTIONS } from '../table/module-option-table.js';
import { type OptionTable, settable, type VariableKind } from '../table/option-table.js';
import { ENABLED_VARIABLE, FROM_VARIABLES, type FromVariables, optionInVariable, type Variables } from './variables.js';

/**
 * The options of the module as variables set them. An option whose variable is not set is left out, `projectName` too.
 * What variables say of single jobs is not in `jobs`: it is added at start-up, and wins.
 */
export interface OptionsFromEnvironment extends Omit<SingletonJobOptions, 'connection' | 'jobs'> {
  /** A URL of Redis, PostgreSQL, MySQL or SQLite. */
  readonly connection?: string | undefined;
}

/** What Kubernetes sets in each container for a Service whose name is the prefix. It is not meant for this library. */
const OF_KUBERNETES = /^(SERVICE_(HOST|PORT)|PORT_\d+_|PORT=(tcp|udp|sctp):)/;

/**
 * The options that variables set; the others are left out. The checks at start-up see that they came from variables,
 * and report those that set none.
 */
export function readVariables(variables: Variables, name: string): OptionsFromEnvironment {
  const prefix = `${name}_`;
  const options: Record<string, unknown> = {};
  // no prototype, because a job may be called '__proto__'
  const jobs = Object.create(null) as Record<string, Record<string, unknown>>;
  const problems: string[] = [];
  for (const [variable, given = ''] of Object.entries(variables)) {
    // docker --env-file keeps the quotes that other readers of such a file remove
    const text = given.replace(/^(["'])(.*)\1$/, '$2');
    // the library itself reads the one that switches all jobs off
    if (text === '' || variable === ENABLED_VARIABLE || !variable.startsWith(prefix)) continue;
    const rest = variable.slice(prefix.length);
    if (OF_KUBERNETES.test(`${rest}=${text}`)) continue;
    // the name of a job may have two underscores in it, that of an option has not
    const [, job, ofJob] = /^JOBS__(.+)__(.+)$/.exec(rest) ?? [];
    const table: OptionTable = job === undefined ? MODULE_OPTIONS : OVERRIDES;
    const option = settable(table).find((key) => optionInVariable(key) === (ofJob ?? rest));
    if (option === undefined) problems.push(mistakeIn(variable, ofJob ?? rest, table, prefix));
    else (job === undefined ? options : (jobs[job] ??= {}))[option] = valueOf(text, table[option]?.type.variable);
  }
  const read: FromVariables = { prefix, jobs, problems };
  return { ...options, [FROM_VARIABLES]: read } as unknown as OptionsFromEnvironment;
}

/** A text that its option does not take stays as it is, for the check of that option. */
function valueOf(text: string, kind: VariableKind = 'text'): string | number | boolean {
  if (kind === 'text') return text;
  // warnAfter is a duration or false
  if (text === 'false') return false;
  if (kind === 'boolean') return text === 'true' ? true : text;
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** A sentence about a variable that sets no option. `rest` is the part of its name that should be one. */
function mistakeIn(variable: string, rest: string, table: OptionTable, prefix: string): string {
  if (/^JOBS(_|$)/.test(rest))
    return `${variable} is no option of a job: write it as ${prefix}JOBS__DAILY_REPORT__CRON, with two underscores`;
  const [head = ''] = rest.split('__');
  const option = Object.keys(table).find((key) => optionInVariable(key) === head);
  if (option !== undefined) {
    const what = rest === head ? option : `a part of ${option}`;
    const url = `Put it into the URL of ${prefix}CONNECTION, as in redis://user:password@host:6379, or set it in code`;
    return `${variable}: ${what} cannot be set by a variable. ${option === 'connection' ? url : 'Set it in code'}`;
  }
  const fixes = table === MODULE_OPTIONS ? MODULE_WORDS : OPTION_FIXES;
  const [, fix] = Object.entries(fixes).find(([other]) => optionInVariable(other) === rest) ?? [];
  const start = variable.slice(0, -rest.length);
  const forms = settable(table).map(optionInVariable);
  const all = `the options are ${forms.map((other) => start + other).join(', ')}`;
  return `${variable} is no option here: ${fix ?? didYouMean(rest, forms, all, start)}`;
}
