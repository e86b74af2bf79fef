import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { cron } from '../../libs/singleton-job/src/schedule/cron/cron.js';
import { readPage } from '../support/pages.js';

it('The sample of every second week is right around a shift of the clocks, also early on a Monday', () => {
  const [sample = ''] = /^const timeZone[^]*?(?=^@Injectable)/m.exec(readPage('docs/schedules.md')) ?? [];
  const { outputText } = ts.transpileModule(sample, { compilerOptions: { target: ts.ScriptTarget.ES2023 } });
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- it is our own page
  const { dayOf, isInSecondWeek } = new Function(`${outputText}; return { dayOf, isInSecondWeek }`)() as {
    dayOf: (date: Date) => string;
    isInSecondWeek: (date: Date) => boolean;
  };
  const mondays = cron('30 0 * * MON', 'Europe/Berlin');
  const days: string[] = [];
  for (let at = mondays.next(Date.UTC(2027, 0)); at !== undefined && days.length < 26; at = mondays.next(at))
    if (isInSecondWeek(new Date(at))) days.push(dayOf(new Date(at)));
  const every14Days = days.map((_, index) => new Date(Date.UTC(2027, 0, 4 + 14 * index)).toISOString().slice(0, 10));
  expect(days).toEqual(every14Days);
});
