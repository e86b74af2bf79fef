import { describe, expect, it } from '@jest/globals';
import { type InvalidJobsError, type InvalidOptionsError } from '../../base/errors/mistakes.errors.js';
import { Cron, FixedRate } from '../../jobs/job.decorators.js';
import { type Job } from '../../jobs/job.js';
import { exploreInstances } from '../../testing/explore-instances.js';
import { resolveOptions } from '../resolve-options.js';
import { OVERRIDES } from '../table/job-option-table.js';
import { MODULE_OPTIONS } from '../table/module-option-table.js';
import { type OptionTable } from '../table/option-table.js';
import { readVariables } from './read-variables.js';
import { fromVariables, optionInVariable } from './variables.js';

class Jobs {
  @FixedRate('1s', { name: 'price-tick', lockExpiry: '20s' })
  tick(): void {}

  @Cron('0 3 * * *', { name: 'daily-report', timeout: '5m' })
  write(): void {}
}

const REQUIRED = { SINGLETON_JOB_PROJECT_NAME: 'shop', SINGLETON_JOB_CONNECTION: 'redis://cache' };

function read(variables: Readonly<Record<string, string>>) {
  return readVariables({ ...REQUIRED, ...variables }, 'SINGLETON_JOB');
}

function jobsOf(options: object): Readonly<Record<string, Job>> {
  const { jobs } = exploreInstances([new Jobs()], resolveOptions(options, {}, 'host-1'));
  return Object.fromEntries(jobs.map((job) => [job.name, job]));
}

/** The mistakes that start-up reports. */
function problemsOf(options: object): readonly string[] {
  try {
    jobsOf(options);
    return [];
  } catch (error: unknown) {
    return (error as InvalidOptionsError | InvalidJobsError).problems;
  }
}

/** A text that a variable of this kind takes, and what it is read as. */
const SAMPLES = { text: ['a text', 'a text'], boolean: ['true', true], duration: ['1500', 1_500] } as const;

function settable(table: OptionTable) {
  return Object.entries(table).flatMap(([option, { type }]) =>
    type.variable === 'none' ? [] : ([[option, type.variable]] as const),
  );
}

describe('a variable', () => {
  it.each(settable(MODULE_OPTIONS))('sets %s of the module', (option, kind) => {
    const [text, value] = SAMPLES[kind];
    expect(readVariables({ [`APP_${optionInVariable(option)}`]: text }, 'APP')).toHaveProperty(option, value);
  });

  it.each(settable(OVERRIDES))('sets %s of a job', (option, kind) => {
    const [text, value] = SAMPLES[kind];
    const variables = { [`APP_JOBS__DAILY_REPORT__${optionInVariable(option)}`]: text };
    expect(fromVariables(readVariables(variables, 'APP'))?.jobs).toEqual({ DAILY_REPORT: { [option]: value } });
  });

  it('changes no prototype, whatever the job is called', () => {
    const variables = { APP_JOBS____proto____CRON: '0 4 * * *' };
    expect(Object.keys(fromVariables(readVariables(variables, 'APP'))?.jobs ?? {})).toEqual(['__proto__']);
    expect('cron' in {}).toBe(false);
  });

  it('counts as not set if it is empty, so that the default applies', () => {
    const options = { lockExpiry: '20s', ...read({ SINGLETON_JOB_LOCK_EXPIRY: '', SINGLETON_JOB_LOCK_EXPIRE: '' }) };
    expect(options).toMatchObject({ projectName: 'shop', lockExpiry: '20s' });
    expect(problemsOf(options)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, string>>, object]>([
    ['is milliseconds', { LOCK_EXPIRY: '20000' }, { lockExpiry: 20_000 }],
    ['is a duration with a unit', { LOCK_EXPIRY: '20s' }, { lockExpiry: '20s' }],
    ['is false for never', { WARN_AFTER: 'false' }, { warnAfter: false }],
    ['may have quotes around it', { LOCK_EXPIRY: "'20s'", NODE_ID: '"a"' }, { lockExpiry: '20s', nodeId: 'a' }],
    ['stays a text if its option is one', { NODE_ID: '7', PROJECT_NAME: 'true' }, { nodeId: '7', projectName: 'true' }],
  ])('%s', (_, variables, options) => {
    const named = Object.entries(variables).map(([name, text]) => [`APP_${name}`, text]);
    expect(readVariables(Object.fromEntries(named) as Record<string, string>, 'APP')).toMatchObject(options);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['of another prefix', { OTHER_LOCK_EXPIRY: '1', SINGLETON_JOBS_X: '' }],
    ['that the library reads by itself', { SINGLETON_JOB_ENABLED: 'no' }],
    ['of Kubernetes for a Service', { SINGLETON_JOB_SERVICE_HOST: '10.0.0.1', SINGLETON_JOB_SERVICE_PORT: '80' }],
    ['of one of its ports', { SINGLETON_JOB_SERVICE_PORT_HTTP: '80', SINGLETON_JOB_PORT_80_TCP: 'tcp://10.0.0.1:80' }],
    ['of its only port', { SINGLETON_JOB_PORT: 'tcp://10.0.0.1:80' }],
  ])('%s is ignored', (_, variables) => {
    expect(read(variables)).toEqual(read({}));
  });
});

describe('the variables of a job', () => {
  it('change single options of its decorator and its code', () => {
    const fromVariables = read({
      SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '0 4 * * *',
      SINGLETON_JOB_JOBS__DAILY_REPORT__WARN_AFTER: 'false',
      SINGLETON_JOB_JOBS__PRICE_TICK__PERIOD: '2s',
    });
    const inCode = { 'daily-report': { cron: '0 5 * * *', lockExpiry: '30s' } };
    const jobs = jobsOf({ ...fromVariables, jobs: inCode });

    expect(jobs['daily-report']?.schedule.description).toContain('0 4 * * *');
    expect(jobs['daily-report']).toMatchObject({ lockExpiryMs: 30_000, timeoutMs: 300_000, warnAfterMs: undefined });
    expect(jobs['price-tick']).toMatchObject({ lockExpiryMs: 20_000, schedule: { periodMs: 2_000 } });
  });

  it('stand for every character that is no letter and no digit by an underscore', () => {
    class Odd {
      @FixedRate('1s', { name: 'a--b.Ç2_' })
      tick(): void {}
    }
    const options = read({ SINGLETON_JOB_JOBS__A__B__2___PERIOD: '2s' });
    const [job] = exploreInstances([new Odd()], resolveOptions(options)).jobs;
    expect(job).toMatchObject({ schedule: { periodMs: 2_000 } });
  });
});

describe('a mistake in a variable names the variable', () => {
  const DAILY = 'SINGLETON_JOB_JOBS__DAILY_REPORT__';

  it.each([
    ['LOCK_EXPIRY', '20 s'],
    ['LOCK_EXPIRE', '20s'],
    ['HOST', 'cache'],
    ['OBSERVERS', 'Feed'],
    ['HEARTBEAT_THREAD__WORKER_FILE', 'a'],
    ['CONNECTION__PASSWORD', 'a'],
    ['JOBS', '{}'],
    ['JOBS_DAILY_REPORT_CRON', 'x'],
    ['JOBS__DAILY_REPORT', 'x'],
    ['JOBS__DAILY_REPORT__CORN', 'x'],
    ['JOBS__DAILY_REPORT__NAME', 'x'],
    ['JOBS__DAILY_REPORT__TIMEOUT', '-1'],
    ['JOBS__DAILY_REPORT__PERIOD', '1s'],
    ['JOBS__PRICE_TICK__OFFSET', '1s'],
  ])('SINGLETON_JOB_%s=%s', (name, text) => {
    const problems = problemsOf(read({ [`SINGLETON_JOB_${name}`]: text }));
    expect(problems).toEqual([expect.stringMatching(`\\bSINGLETON_JOB_${name}\\b`)]);
    expect(problems).toMatchSnapshot();
  });

  it('also if it is the one to set', () => {
    expect(problemsOf(readVariables({}, 'APP'))).toEqual([
      expect.stringMatching(/^projectName \(APP_PROJECT_NAME\) must be a name/),
      expect.stringMatching(/^connection \(APP_CONNECTION\) must be given, got undefined/),
    ]);
    expect(problemsOf(read({ SINGLETON_JOB_HEARTBEAT_INTERVAL: '5s' }))).toEqual([
      expect.stringMatching(/^lockExpiry \(SINGLETON_JOB_LOCK_EXPIRY\) must be .*, got the default of 10s/),
    ]);
  });

  it('also where code has replaced the value: either may be the one to change', () => {
    const options = { ...read({ SINGLETON_JOB_LOCK_EXPIRY: '20s' }), lockExpiry: '10', observers: 5 };
    expect(problemsOf(options).map((problem) => problem.replace(/ must .*/, ''))).toEqual([
      'lockExpiry (SINGLETON_JOB_LOCK_EXPIRY)',
      'observers',
    ]);
  });

  it('with those of all other options in one error', () => {
    const variables = { SINGLETON_JOB_LOCK_EXPIRE: '1s', [`${DAILY}CORN`]: 'x', SINGLETON_JOB_SHUTDOWN_TIMEOUT: '1s' };
    expect(problemsOf({ ...read(variables), nodeId: '' })).toHaveLength(4);
  });
});
