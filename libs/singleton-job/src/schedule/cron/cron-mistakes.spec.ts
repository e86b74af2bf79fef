import { describe, expect, it } from '@jest/globals';

import { InvalidScheduleError } from '../schedule.js';
import { cron } from './cron.js';

describe('a cron expression that cannot be read', () => {
  it.each<[expression: string, rule: string]>([
    ['*', 'expression must have 5 or 6 fields, not 1 (minute hour day month weekday, with seconds in front if 6), got'],
    [
      '@never',
      'expression must have fields or be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, ' +
        '@minutely, @secondly, @weekdays, @weekends, got',
    ],
    ['61 * * * *', "minute field must be 0-59, or *, a list, range or step of them, got '61'"],
    ['0 0 * * L', "weekday field must be 0-7, SUN-SAT, 5L or MON#2, or *, a list, range or step of them, got 'L'"],
    ['0 0 9 ? * 2,4', "weekday field must have names beside a ?, got '2,4': 1 is Monday here"],
    ['0 0 1-31 * 4', "day or weekday field must leave a day out if both are set, got '0 0 1-31 * 4': write * for the"],
    ['0 0 31 2,4,6,9,11 *', "expression must fire at some time, got '0 0 31 2,4,6,9,11 *': check its day and month"],
  ])('names its rule: %s', (expression, rule) => {
    const refused = expect(() => cron(expression));
    refused.toThrow(InvalidScheduleError);
    refused.toThrow(`cron ${rule}`);
  });

  it.each([
    ...['', '0 0 0 1 1 * 2027', '@reboot', '*/0 * * * *', '*/90 * * * *', '5,5 * * * *', '0 22-2 * * *', '0 0 32 * *'],
    ...['0 0 15W * *', '0 0 LW * *', '0 0 * * FRI-SUN', '0 0 * * MON-FRY', '0 0 * * SUN,MON,7', '0 0 L-1 * *'],
    ...['0 0 * * MON#1,TUE#2', 'H 3 * * *', '0 ? * * *', '0 0 13 * 0-6', 'CRON_TZ=Asia/Calcutta 0 8 * * *'],
    ...['0 22 * * *  Europe/Zagreb', '0 22 * * * EST', '0 0 22 * * * GMT+2', '@every 1h30m', '@EVERY 1.5h'],
    ...['rate(5 minutes)', 'Every hour', 'every 2 months', '0 10 * * ? *', 'cron(15 10 ? * 2-6 *)'],
    ...['0 12 1 1 * 2027', '0 0 12 ? * 6L 2027', '0 0 12 ? * 2'],
  ])('is refused: %s', (expression) => {
    expect(() => cron(expression)).toThrow(InvalidScheduleError);
  });

  it('is none with a ? for a day, and the weekday by its name', () => {
    expect(cron('0 0 12 ? * MON/2').summary).toBe('0 0 12 ? * MON/2 UTC');
  });

  it('is refused if all its times are in the skipped hour', () => {
    const everySpring = '*/30 2 * 3 SUN#2';
    expect(() => cron(everySpring, 'America/New_York')).toThrow('must fire at some time');
    expect(cron(everySpring, 'Europe/Berlin').next(0)).toBeDefined();
  });

  it('has a stable code, and the error of the parser as its cause', () => {
    expect(() => cron('61 * * * *')).toThrow(
      expect.objectContaining({ name: 'InvalidScheduleError', code: 'INVALID_SCHEDULE', cause: expect.any(Error) }),
    );
  });
});
