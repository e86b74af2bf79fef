import { ENABLED_VARIABLE } from '../options/environment.js';
import { OPTION_FIXES, OVERRIDES } from '../options/job-option-table.js';
import { MODULE_OPTION_FIXES, MODULE_OPTIONS } from '../options/module-option-table.js';
import { type OptionTable } from '../options/option-reader.js';
import { type SingletonJobOptions } from '../options/singleton-job.options.js';
import { suggest } from '../base/text/suggest.js';
import { FROM_VARIABLES, optionInVariable, type OptionVariables, type VariableKind } from '../options/variables.js';

/** The options of the module as variables set them. An option whose variable is not set is left out, `projectName` too. */
export interface OptionsFromEnvironment extends Omit<SingletonJobOptions, 'connection'> {
  /** A URL of Redis. */
  readonly connection?: string | undefined;
}

/** What Kubernetes sets in each container for a Service whose name is the prefix. It is not meant for this library. */
const OF_KUBERNETES = /^(SERVICE_(HOST|PORT)|PORT_\d+_|PORT=(tcp|udp|sctp):)/;

/** What variables set: options of the module, or of one job. */
interface Section {
  /** What their names begin with. */
  readonly prefix: string;
  /** The rest of the name and the text of each that is set. */
  readonly texts: ReadonlyMap<string, string>;
  readonly table: OptionTable;
  /** What to do instead, by the name of an option. */
  readonly fixes: Readonly<Record<string, string>>;
}

/**
 * The options that variables set; the others are left out. The checks at start-up see which variables they came from, and report
 * those that set none.
 */
export function readVariables(
  variables: Readonly<Record<string, string | undefined>>,
  name: string,
): OptionsFromEnvironment {
  const prefix = `${name}_`;
  const texts = new Map<string, string>();
  const textsOfJobs = new Map<string, Map<string, string>>();
  for (const [variable, given = ''] of Object.entries(variables)) {
    // docker --env-file keeps the quotes that other readers of such a file remove
    const text = given.replace(/^(["'])(.*)\1$/, '$2');
    // the library itself reads the one that switches all jobs off
    if (text === '' || variable === ENABLED_VARIABLE || !variable.startsWith(prefix)) continue;
    if (OF_KUBERNETES.test(`${variable.slice(prefix.length)}=${text}`)) continue;
    // the name of a job may have two underscores in it, that of an option has not
    const [, job, option] = /^JOBS__(.+)__(.+)$/.exec(variable.slice(prefix.length)) ?? [];
    if (job === undefined || option === undefined) texts.set(variable.slice(prefix.length), text);
    else textsOfJobs.set(job, (textsOfJobs.get(job) ?? new Map<string, string>()).set(option, text));
  }
  const jobs = Object.fromEntries(
    [...textsOfJobs].map(([job, ofJob]) => [
      job,
      sectionOf({ prefix: `${prefix}JOBS__${job}__`, texts: ofJob, table: OVERRIDES, fixes: OPTION_FIXES }),
    ]),
  );
  const own = sectionOf({ prefix, texts, table: MODULE_OPTIONS, fixes: MODULE_OPTION_FIXES });
  const options = {
    ...optionsOf(own),
    ...(textsOfJobs.size > 0 && {
      jobs: Object.fromEntries(Object.entries(jobs).map(([job, ofJob]) => [job, optionsOf(ofJob)])),
    }),
    [FROM_VARIABLES]: { ...own, jobs },
  };
  return options as unknown as OptionsFromEnvironment;
}

function sectionOf(section: Section): OptionVariables {
  return { prefix: section.prefix, values: valuesOf(section), problems: mistakesIn(section) };
}

/** The options whose variables are set. */
function optionsOf({ values }: OptionVariables): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Every option that a variable can set, with its value. Undefined: it is not set. */
function valuesOf({ texts, table }: Section): Record<string, unknown> {
  return Object.fromEntries(
    settable(table).map(([option, kind]) => [option, read(texts.get(optionInVariable(option)), kind)]),
  );
}

/** The options that a variable can set, and how. */
function settable(table: OptionTable): (readonly [option: string, kind: VariableKind])[] {
  return Object.entries(table).flatMap(([option, { variable = 'none' }]) =>
    variable === 'none' ? [] : [[option, variable] as const],
  );
}

/** A text that its option does not take stays as it is, for the check of that option. */
function read(text: string | undefined, kind: VariableKind): string | number | boolean | undefined {
  if (kind === 'text' || text === undefined) return text;
  // warnAfter is a duration or false
  if (text === 'false') return false;
  if (kind === 'boolean') return text === 'true' ? true : text;
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** A sentence about each variable that sets no option. */
function mistakesIn({ prefix, texts, table, fixes }: Section): string[] {
  const options = new Map(Object.keys(table).map((option) => [optionInVariable(option), option]));
  const forms = settable(table).map(([option]) => optionInVariable(option));
  return [...texts.keys()].flatMap((form) => {
    if (forms.includes(form)) return [];
    const variable = `${prefix}${form}`;
    if (table === MODULE_OPTIONS && /^JOBS(_|$)/.test(form)) {
      return `${variable} is no option of a job: write it as ${prefix}JOBS__DAILY_REPORT__CRON, with two underscores`;
    }
    const [head = ''] = form.split('__');
    const option = options.get(head);
    if (option !== undefined) {
      const what = form === head ? option : `a part of ${option}`;
      const url = `Put it into the URL of ${prefix}CONNECTION, as in redis://user:password@host:6379, or set it in code`;
      return `${variable}: ${what} cannot be set by a variable. ${option === 'connection' ? url : 'Set it in code'}`;
    }
    const fix = Object.keys(fixes).find((other) => optionInVariable(other) === form);
    const close = suggest(form, forms);
    const all = forms.map((other) => `${prefix}${other}`).join(', ');
    const otherwise = close === undefined ? `the options are ${all}` : `did you mean '${prefix}${close}'?`;
    return `${variable} is no option here: ${(fix === undefined ? undefined : fixes[fix]) ?? otherwise}`;
  });
}
