import { type Bug } from './bug.js';

const FROM_THE_START = { theme: 'faults', first: 1, count: 300 } as const;

/** Mistakes about who may lead, and for how long. */
export const BUGS_OF_LEASES: readonly Bug[] = [
  {
    name: 'deadline-from-the-reply',
    mistake: 'the deadline is counted from the answer to a renewal',
    edits: [
      {
        file: 'election/term.ts',
        find: 'this.#lease.confirm(sent);',
        replace: 'this.#lease.confirm(instant(replica.clock));',
      },
    ],
    breaks: 'overlap',
    hunt: { ...FROM_THE_START, theme: 'late-answers' },
  },
  {
    name: 'no-safety-margin',
    mistake: 'a lease lasts as long as the lock',
    edits: [
      {
        file: 'election/lease.ts',
        find: 'return this.#sent.now + this.terms.lockExpiryMs - this.terms.safetyMarginMs;',
        replace: 'return this.#sent.now + this.terms.lockExpiryMs;',
      },
    ],
    breaks: 'overlap',
    hunt: FROM_THE_START,
  },
  {
    name: 'no-check-at-fire',
    mistake: 'a lease is trusted until its timer says otherwise',
    edits: [
      {
        file: 'election/lease.ts',
        find: 'return this.#end === undefined && this.covers(instant(this.clock));',
        replace: 'return this.#end === undefined;',
      },
      {
        file: 'election/lease.ts',
        find: 'return this.#end !== undefined || this.clock.now() >= this.#deadlineMs;',
        replace: 'return this.#end !== undefined;',
      },
    ],
    breaks: 'start-without-lock',
    hunt: FROM_THE_START,
  },
  {
    name: 'wall-clock-not-asked',
    mistake: 'a host that slept is not noticed',
    edits: [
      {
        file: 'election/lease.ts',
        find: 'return now < this.#deadlineMs && !mayHaveSlept;',
        replace: 'return now < this.#deadlineMs;',
      },
    ],
    breaks: 'start-without-lock',
    hunt: FROM_THE_START,
  },
  {
    name: 'one-holder-value-per-process',
    mistake: 'all bids of a process have the same holder value',
    edits: [
      {
        file: 'election/identity.ts',
        find: '`${this.id}#${this.#attempts}`',
        replace: '`${this.id}#1`',
      },
    ],
    breaks: 'token-reused',
    hunt: FROM_THE_START,
  },
  {
    name: 'renewals-end-with-the-stop',
    mistake: 'a process that stops renews no more while its runs drain',
    edits: [
      {
        file: 'election/leader-election.ts',
        find: 'failure = await this.#spend(term, quit);',
        replace:
          "quit.addEventListener('abort', () => (term.renew = async () => undefined)); failure = await this.#spend(term, quit);",
      },
    ],
    breaks: 'lease-lost',
    hunt: { ...FROM_THE_START, theme: 'mild' },
  },
  {
    name: 'release-before-drain',
    mistake: 'the lock is released while a run is in flight',
    edits: [
      {
        file: 'runner/job-runner.ts',
        find: 'await lane.free();',
        replace: '',
      },
    ],
    breaks: 'overlap',
    hunt: FROM_THE_START,
  },
  {
    name: 'back-off-while-leading',
    mistake: 'a leader backs off like everybody else when it is not answered',
    edits: [
      {
        file: 'election/store-gate.ts',
        find: "if (asker === 'leader') return Math.min(SLOWEST_PROBE_MS, heartbeatIntervalMs / 6) * (0.5 + random() / 2);",
        replace: "if (asker === 'leader') return 4 * heartbeatIntervalMs * (0.8 + 0.4 * random());",
      },
    ],
    breaks: 'lease-lost',
    hunt: { ...FROM_THE_START, theme: 'mild' },
  },
  {
    name: 'no-wait-after-data-loss',
    mistake: 'who leads after a loss of data runs at once',
    edits: [
      {
        file: 'election/data-loss.ts',
        find: 'return { waitMs: Math.max(doubtfulUpTo - grant.time, 0), doubtfulUpTo };',
        replace: 'return { waitMs: 0 * doubtfulUpTo, doubtfulUpTo: 0 };',
      },
    ],
    breaks: 'overlap',
    hunt: { ...FROM_THE_START, theme: 'data-loss' },
  },
  {
    name: 'refusal-forgotten',
    mistake: 'a lease is trusted over a loss of data although somebody else was seen to lead beside it',
    edits: [
      {
        file: 'election/candidacy.ts',
        find: 'if (this.#term?.grant.born === refusal.born) this.#term = undefined;',
        replace: '',
      },
    ],
    breaks: 'overlap',
    hunt: { ...FROM_THE_START, theme: 'lost-twice' },
  },
];
