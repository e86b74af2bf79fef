import { type Bug } from './bug.js';

const FROM_THE_START = { theme: 'faults', first: 1, count: 300 } as const;

/** Mistakes in the steps that the store takes, and in what a follower makes of its answers. */
export const BUGS_OF_THE_STORE: readonly Bug[] = [
  {
    name: 'plain-delete',
    mistake: 'a release deletes the lock, whoever has it',
    edits: [
      {
        file: 'lock/in-memory-locks.ts',
        find: 'this.#liveLock(release.name, time)?.holder === release.holder;',
        replace: 'this.#liveLock(release.name, time) !== undefined;',
      },
    ],
    breaks: 'stranger-changed-lock',
    hunt: FROM_THE_START,
  },
  {
    name: 'renewal-recreates',
    mistake: 'a renewal sets the lock anew when it is gone',
    edits: [
      {
        file: 'lock/in-memory-locks.ts',
        find: 'if (this.#liveLock(renewal.name, time)?.holder !== renewal.holder) return false;',
        replace: 'if ((this.#liveLock(renewal.name, time)?.holder ?? renewal.holder) !== renewal.holder) return false;',
      },
    ],
    breaks: 'resurrected',
    hunt: { ...FROM_THE_START, theme: 'late-commands' },
  },
  {
    name: 'plain-counter-for-tokens',
    mistake: 'a fencing token is the stored one and one more, also after a loss of data',
    edits: [
      {
        file: 'lock/in-memory-state.ts',
        find: 'return Math.max(token + 1, found.time, bid.seenToken + 1);',
        replace: 'return token + 1;',
      },
    ],
    breaks: 'token-not-grown',
    hunt: { ...FROM_THE_START, theme: 'data-loss' },
  },
  {
    name: 'clock-alone-for-tokens',
    mistake: 'a fencing token is the time of the store, also where its clock went back',
    edits: [
      {
        file: 'lock/in-memory-state.ts',
        find: 'return Math.max(token + 1, found.time, bid.seenToken + 1);',
        replace: 'return found.time;',
      },
    ],
    breaks: 'token-not-grown',
    hunt: { ...FROM_THE_START, theme: 'store-clock' },
  },
  {
    name: 'late-claim-lowers',
    mistake: 'a claim that arrives late lowers the newest occurrence, and nothing that is told later raises it again',
    edits: [
      {
        file: 'lock/in-memory-locks.ts',
        find: "if (last >= claim.scheduledAt) return 'taken';",
        replace: "if (last === claim.scheduledAt) return 'taken';",
      },
      {
        file: 'lock/in-memory-locks.ts',
        find: 'const last = raised(raised(stored.last, progress.ran), progress.last);',
        replace: 'const { last } = stored;',
      },
    ],
    breaks: 'started-twice',
    hunt: { ...FROM_THE_START, theme: 'late-commands' },
  },
  {
    name: 'bid-lowers',
    mistake: 'a bid that knows less lowers the newest occurrence',
    edits: [
      {
        file: 'lock/in-memory-state.ts',
        find: 'const last = Math.max(old, bid.seenLast, hasChanged ? time : 0);',
        replace: 'const last = bid.seenLast === 0 ? old : bid.seenLast;',
      },
    ],
    breaks: 'started-twice',
    hunt: FROM_THE_START,
  },
  {
    name: 'told-once',
    mistake: 'what was settled is told once, and not again where a failover may have lost it',
    edits: [
      { file: 'election/candidacy.ts', find: 'this.memory.untold();', replace: '' },
      {
        file: 'election/job-memory.ts',
        find: 'this.untold();\n    const ran = Math.max(this.#ran, this.#fired);',
        replace: 'const ran = this.#fired;',
      },
      {
        file: 'election/job-memory.ts',
        find: '...(this.#last > 0 && { last: this.#last }),',
        replace: '...(this.#fired > 0 && { last: this.#fired }),',
      },
    ],
    breaks: 'started-twice',
    hunt: { ...FROM_THE_START, theme: 'failovers' },
  },
  {
    name: 'wake-up-forgotten',
    mistake: 'a release that is heard of while a bid is in flight is forgotten',
    edits: [
      {
        file: 'election/candidacy.ts',
        find: 'this.memory.learn(answer);',
        replace: 'this.memory.learn(answer); this.#waker.clear();',
      },
    ],
    breaks: 'late-hand-over',
    hunt: { theme: 'sluggish', first: 120, count: 300 },
  },
  {
    name: 'time-to-live-ignored',
    mistake: 'followers ask at each heartbeat, and not when the lock expires',
    edits: [
      {
        file: 'election/candidacy.ts',
        find: 'const waitMs = mustPoll ? Math.min(ttlMs, settings.heartbeatIntervalMs) : ttlMs;',
        replace: 'const waitMs = mustPoll ? settings.heartbeatIntervalMs : settings.heartbeatIntervalMs;',
      },
    ],
    breaks: 'late-hand-over',
    hunt: { ...FROM_THE_START, theme: 'mild' },
  },
  {
    name: 'stray-grant-kept',
    mistake: 'a lock that a given-up bid of the same process got after all is left to expire',
    edits: [
      {
        file: 'election/candidacy.ts',
        find: 'if (identity.isStray(holder) && (await this.#withdraw(holder))) return;',
        replace: '',
      },
    ],
    breaks: 'late-hand-over',
    hunt: { ...FROM_THE_START, theme: 'stragglers' },
  },
];
