import { describe, expect, it } from '@jest/globals';
import { CronExpression as NestCronExpression } from '@nestjs/schedule';
import { Cron } from 'croner';

import { CronExpression } from './cron-expression.js';
import { cron } from './cron.js';

describe('the table of cron expressions', () => {
  it('has the names of the table in @nestjs/schedule', () => {
    expect(Object.keys(CronExpression)).toEqual(Object.keys(NestCronExpression));
  });

  it.each(Object.entries(CronExpression))('has the same times for %s: %s', (name, expression) => {
    const theirs = NestCronExpression[name as keyof typeof CronExpression];
    const own = cron(expression);
    let at = Date.UTC(2027, 0);
    for (const expected of new Cron(theirs, { timezone: 'UTC' }).nextRuns(10, new Date(at))) {
      at = own.next(at) ?? NaN;
      expect(at).toBe(expected.getTime());
    }
  });
});
