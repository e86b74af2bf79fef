import { describe, expect, it } from '@jest/globals';

import { cron } from './cron.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';

const FIELDS = 'cron expression must have 5 or 6 fields (minute hour day month weekday, with seconds in front if 6)';
const ALIASES =
  'cron expression must have fields or be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, ' +
  '@minutely, @secondly, @weekdays, @weekends';
const OF_THEM = 'or *, H, a list, range or step of them';
const SECOND = `cron second field must be 0-59, ${OF_THEM}`;
const MINUTE = `cron minute field must be 0-59, ${OF_THEM}`;
const HOUR = `cron hour field must be 0-23, ${OF_THEM}`;
const DAY = `cron day of month field must be 1-31 or L, ${OF_THEM}`;
const MONTH = `cron month field must be 1-12 or JAN-DEC, ${OF_THEM}`;
const WEEKDAY = `cron weekday field must be 0-7, SUN-SAT, 5L or MON#2, ${OF_THEM}`;
const AROUND = ': a range cannot go past the end of the field, write';
const SUNDAY = ': 0, 7 and SUN are the same day, write one of them';
const LIST = ': every element must be valid and no value may come twice';
const NEVER = 'which never does: check its day and month';

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
    ['', `${FIELDS}, got '' (0 fields)`],
    ['   ', `${FIELDS}, got '   ' (0 fields)`],
    ['*', `${FIELDS}, got '*' (1 field)`],
    ['* * *', `${FIELDS}, got '* * *' (3 fields)`],
    ['0 0 0 1 1 * 2027', `${FIELDS}, got '0 0 0 1 1 * 2027' (7 fields)`],
    ['@never', `${ALIASES}, got '@never'`],
    ['@reboot', `${ALIASES}, got '@reboot': no job runs at start, do that in a Nest lifecycle hook`],
    ['60 * * * * *', `${SECOND}, got '60' in '60 * * * * *'`],
    ['61 * * * *', `${MINUTE}, got '61' in '61 * * * *'`],
    ['-1 * * * *', `${MINUTE}, got '-1' in '-1 * * * *'`],
    ['1.5 * * * *', `${MINUTE}, got '1.5' in '1.5 * * * *'`],
    ['every five minutes please now', `${MINUTE}, got 'every' in 'every five minutes please now'`],
    ['*/0 * * * *', `${MINUTE}, got '*/0' in '*/0 * * * *'`],
    [
      '*/90 * * * *',
      `${MINUTE}, got '*/90' in '*/90 * * * *': a step cannot be longer than the field, use @FixedRate instead`,
    ],
    ['1H(0-5) * * * *', `${MINUTE}, got '1H(0-5)' in '1H(0-5) * * * *'`],
    ['1,,2 * * * *', `${MINUTE}, got '1,,2' in '1,,2 * * * *'${LIST}`],
    ['5,5 * * * *', `${MINUTE}, got '5,5' in '5,5 * * * *'${LIST}`],
    ['* 24 * * *', `${HOUR}, got '24' in '* 24 * * *'`],
    ['0 22-2 * * *', `${HOUR}, got '22-2' in '0 22-2 * * *'${AROUND} 22-23,0-2 for 22-2`],
    ['0 0 0 * *', `${DAY}, got '0' in '0 0 0 * *'`],
    ['0 0 32 * *', `${DAY}, got '32' in '0 0 32 * *'`],
    ['0 0 15W * *', `${DAY}, got '15W' in '0 0 15W * *': the nearest weekday (W) is not supported`],
    ['0 0 LW * *', `${DAY}, got 'LW' in '0 0 LW * *': the nearest weekday (W) is not supported`],
    ['0 0 1 13 *', `${MONTH}, got '13' in '0 0 1 13 *'`],
    ['0 0 1 FOO *', `${MONTH}, got 'FOO' in '0 0 1 FOO *'`],
    ['0 0 * * 8', `${WEEKDAY}, got '8' in '0 0 * * 8'`],
    ['0 0 * * L', `${WEEKDAY}, got 'L' in '0 0 * * L'`],
    ['0 0 * * FRI-MON', `${WEEKDAY}, got 'FRI-MON' in '0 0 * * FRI-MON'${AROUND} FRI,SAT,SUN for FRI-SUN`],
    ['0 0 * * FRI-SUN', `${WEEKDAY}, got 'FRI-SUN' in '0 0 * * FRI-SUN'${AROUND} FRI,SAT,SUN for FRI-SUN`],
    [
      '0 0 * * MON-FRY',
      `${WEEKDAY}, got 'MON-FRY' in '0 0 * * MON-FRY': FRY is no weekday, write SUN, MON, TUE, WED, THU, FRI, SAT`,
    ],
    ['0 0 1 0-11 *', `${MONTH}, got '0-11' in '0 0 1 0-11 *': 0 is no month, write 1 to 12`],
    ['0 9-24 * * *', `${HOUR}, got '9-24' in '0 9-24 * * *': 24 is no hour, write 0 to 23`],
    ['0 0 * * 0,7', `${WEEKDAY}, got '0,7' in '0 0 * * 0,7'${SUNDAY}`],
    ['0 0 * * SUN,MON,7', `${WEEKDAY}, got 'SUN,MON,7' in '0 0 * * SUN,MON,7'${SUNDAY}`],
    ['0 0 * NOV-FEB *', `${MONTH}, got 'NOV-FEB' in '0 0 * NOV-FEB *'${AROUND} 11-12,1-2 for NOV-FEB`],
    ['0 0 28-3 * *', `${DAY}, got '28-3' in '0 0 28-3 * *'${AROUND} 28-31,1-3 for 28-3`],
    ['0 0 L-1 * *', `${DAY}, got 'L-1' in '0 0 L-1 * *': L is the last day, and days before it cannot be written`],
    ['0 0 * * MON#6', `${WEEKDAY}, got 'MON#6' in '0 0 * * MON#6': # must stand alone, with a number from 1 to 5`],
    [
      '0 0 * * MON#1,TUE#2',
      `${WEEKDAY}, got 'MON#1,TUE#2' in '0 0 * * MON#1,TUE#2': # must stand alone, with a number from 1 to 5`,
    ],
    ['0 0 31 2 *', `cron expression must fire at some time, got '0 0 31 2 *', ${NEVER}`],
    ['0 0 30 FEB *', `cron expression must fire at some time, got '0 0 30 FEB *', ${NEVER}`],
    ['0 0 31 2,4,6,9,11 *', `cron expression must fire at some time, got '0 0 31 2,4,6,9,11 *', ${NEVER}`],
    ['H 3 * * *', `cron expression with H must belong to a job with a name, got 'H 3 * * *' without: name the job`],
  ])("is refused with the fix: '%s'", (expression, message) => {
    expect(errorOf(() => cron(expression)).message).toBe(message);
  });

  it('is refused if all its times are in the skipped hour', () => {
    const everySpring = '*/30 2 * 3 SUN#2';
    expect(() => cron(everySpring, { timeZone: 'America/New_York' })).toThrow(NEVER);
    expect(cron(everySpring, { timeZone: 'Europe/Berlin' }).next(0)).toBeDefined();
  });

  it('has a stable code, and the error of the parser as its cause', () => {
    const error = errorOf(() => cron('61 * * * *'));
    expect(error).toMatchObject({ name: 'InvalidScheduleError', code: 'INVALID_SCHEDULE', cause: expect.any(Error) });
  });
});
