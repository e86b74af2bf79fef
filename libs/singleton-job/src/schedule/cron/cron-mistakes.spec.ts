import { describe, expect, it } from '@jest/globals';

import { InvalidScheduleError } from '../invalid-schedule.error.js';
import { cron } from './cron.js';

function errorOf(make: () => unknown): InvalidScheduleError {
  try {
    make();
  } catch (error) {
    if (error instanceof InvalidScheduleError) return error;
  }
  throw new Error('expected an InvalidScheduleError');
}

describe('a cron expression that cannot be read', () => {
  it.each([
    '',
    '*',
    '0 0 0 1 1 * 2027',
    '@never',
    '@reboot',
    '61 * * * *',
    '*/0 * * * *',
    '*/90 * * * *',
    '5,5 * * * *',
    '0 22-2 * * *',
    '0 0 32 * *',
    '0 0 15W * *',
    '0 0 LW * *',
    '0 0 * * L',
    '0 0 1-31 * 4',
    '0 0 13 * 0-6',
    '0 0 * * FRI-SUN',
    '0 0 * * MON-FRY',
    '0 0 * * SUN,MON,7',
    '0 0 L-1 * *',
    '0 0 * * MON#1,TUE#2',
    '0 0 31 2,4,6,9,11 *',
    'H 3 * * *',
    'CRON_TZ=Asia/Calcutta 0 8 * * *',
    '0 22 * * *  Europe/Zagreb',
    '0 22 * * * EST',
    '0 0 22 * * * GMT+2',
    '@every 1h30m',
    '@EVERY 1.5h',
    'rate(5 minutes)',
    'Every hour',
    'every 2 months',
    '0 10 * * ? *',
    'cron(15 10 ? * 2-6 *)',
    '0 12 1 1 * 2027',
    '0 0 12 ? * 6L 2027',
    '0 0 9 ? * 2,4',
    '0 ? * * *',
  ])("is refused with the fix: '%s'", (expression) => {
    expect(errorOf(() => cron(expression)).message).toMatchSnapshot();
  });

  it('is none with a ? for a day, and the weekday by its name', () => {
    expect(cron('0 0 12 ? * MON/2').summary).toBe('0 0 12 ? * MON/2 UTC');
  });

  it('is refused if all its times are in the skipped hour', () => {
    const everySpring = '*/30 2 * 3 SUN#2';
    expect(() => cron(everySpring, 'America/New_York')).toThrow('which never does');
    expect(cron(everySpring, 'Europe/Berlin').next(0)).toBeDefined();
  });

  it('has a stable code, and the error of the parser as its cause', () => {
    const error = errorOf(() => cron('61 * * * *'));
    expect(error).toMatchObject({ name: 'InvalidScheduleError', code: 'INVALID_SCHEDULE', cause: expect.any(Error) });
  });
});
