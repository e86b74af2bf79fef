import { type Bug } from './bug.js';

const FROM_THE_START = { theme: 'faults', first: 1, count: 300 } as const;

/** Mistakes about which tick is run, by whom, and who says so. */
export const BUGS_OF_SCHEDULES: readonly Bug[] = [
  {
    name: 'no-claim',
    mistake: 'a cron occurrence is run without a claim',
    edits: [
      {
        file: 'runner/occurrence-ledger.ts',
        find: 'const answer = await term.claim(newest);',
        replace: "const answer = { outcome: 'claimed', last: newest, time: term.storeNow() };",
      },
    ],
    breaks: 'started-twice',
    hunt: FROM_THE_START,
  },
  {
    name: 'claim-after-the-run-began',
    mistake: 'a cron occurrence is claimed once its run has begun',
    edits: [
      {
        file: 'runner/occurrence-ledger.ts',
        find: 'return this.#claim(due.after, due.newest, () => {\n      this.#runOrReport(due);\n    });',
        replace: 'this.#runOrReport(due);\n    return this.#claim(due.after, due.newest, () => undefined);',
      },
    ],
    breaks: 'started-twice',
    hunt: FROM_THE_START,
  },
  {
    name: 'next-from-now',
    mistake: 'the next tick of a fixed rate is a period from now',
    edits: [
      {
        file: 'runner/fixed-rate-pace.ts',
        find: 'const due = schedule.next(cursor);',
        replace: 'const due = cursor + periodMs;',
      },
      { file: 'runner/fixed-rate-pace.ts', find: 'cursor = schedule.latest(now);', replace: 'cursor = now;' },
    ],
    breaks: 'off-the-grid',
    hunt: FROM_THE_START,
  },
  {
    name: 'late-ticks-unsaid',
    mistake: 'nobody is told of the ticks that a late leader leaves out',
    edits: [
      {
        file: 'runner/fixed-rate-pace.ts',
        find: "if (missed > 0) drop(parts, 'late', cursor - periodMs, missed);",
        replace: 'if (missed < 0) return;',
      },
    ],
    breaks: 'tick-unaccounted',
    hunt: FROM_THE_START,
  },
  {
    name: 'change-unsaid',
    mistake: 'nobody is told of what a changed schedule leaves behind',
    edits: [
      {
        file: 'runner/inheritance.ts',
        find: "if (hasChanged) reportMissed(parts, { reason: 'schedule-changed', after, upTo: grant.last });",
        replace: 'if (hasChanged) return;',
      },
    ],
    breaks: 'lost-in-silence',
    hunt: FROM_THE_START,
  },
  {
    name: 'no-look-back',
    mistake: 'a new leader forgets the occurrences for which nobody led',
    edits: [
      {
        file: 'runner/cron-pace.ts',
        find: 'let cursor = term.grant.last;',
        replace: 'let cursor = term.storeNow();',
      },
    ],
    breaks: 'lost-in-silence',
    hunt: FROM_THE_START,
  },
  {
    name: 'no-report',
    mistake: 'occurrences that are not run any more are not reported',
    edits: [
      {
        file: 'runner/occurrence-ledger.ts',
        find: "else reportMissed(this.parts, { reason: 'late', after, upTo: unstarted });",
        replace: '',
      },
    ],
    breaks: 'lost-in-silence',
    hunt: FROM_THE_START,
  },
];
