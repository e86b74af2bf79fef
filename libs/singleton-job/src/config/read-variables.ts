import {
  ENABLED_VARIABLE,
  MODULE_OPTION_FIXES,
  MODULE_OPTIONS,
  OPTION_FIXES,
  optionInVariable,
  optionsOfVariables,
  type OptionVariables,
  OVERRIDES,
  type SingletonJobOptions,
  suggest,
  type VariableKind,
} from '../options/index.js';

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
  readonly kinds: Readonly<Record<string, VariableKind>>;
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
  const jobs = [...textsOfJobs].map(([job, ofJob]) => [
    job,
    optionsOf({ prefix: `${prefix}JOBS__${job}__`, texts: ofJob, kinds: OVERRIDES, fixes: OPTION_FIXES }),
  ]);
  const ofJobs = Object.fromEntries(
    [...textsOfJobs].map(([job, ofJob]) => [
      job,
      [...ofJob.keys()].map((option) => `${prefix}JOBS__${job}__${option}`),
    ]),
  );
  const options = optionsOf({ prefix, texts, kinds: MODULE_OPTIONS, fixes: MODULE_OPTION_FIXES }, ofJobs);
  const all = jobs.length === 0 ? options : { ...options, jobs: Object.fromEntries(jobs) as object };
  return all as OptionsFromEnvironment;
}

function optionsOf(section: Section, ofJobs: OptionVariables['ofJobs'] = {}): object {
  return optionsOfVariables({
    prefix: section.prefix,
    values: valuesOf(section),
    problems: mistakesIn(section),
    ofJobs,
  });
}

/** Every option that a variable can set, with its value. Undefined: it is not set. */
function valuesOf({ texts, kinds }: Section): Record<string, unknown> {
  const settable = Object.entries(kinds).filter(([, kind]) => kind !== 'none');
  return Object.fromEntries(
    settable.map(([option, kind]) => [option, read(texts.get(optionInVariable(option)), kind)]),
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
function mistakesIn({ prefix, texts, kinds, fixes }: Section): string[] {
  const options = new Map(Object.keys(kinds).map((option) => [optionInVariable(option), option]));
  const settable = [...options].flatMap(([form, option]) => (kinds[option] === 'none' ? [] : form));
  return [...texts.keys()].flatMap((form) => {
    if (settable.includes(form)) return [];
    const variable = `${prefix}${form}`;
    if (kinds === MODULE_OPTIONS && /^JOBS(_|$)/.test(form)) {
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
    const close = suggest(form, settable);
    const all = settable.map((other) => `${prefix}${other}`).join(', ');
    const otherwise = close === undefined ? `the options are ${all}` : `did you mean '${prefix}${close}'?`;
    return `${variable} is no option here: ${(fix === undefined ? undefined : fixes[fix]) ?? otherwise}`;
  });
}
