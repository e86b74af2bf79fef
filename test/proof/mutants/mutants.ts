/** The suite that must notice a mutant. */
export type Check = 'simulation' | 'store contract' | 'Redis contract' | 'unit specs';

/** One mistake in the library. Each text must occur exactly once in its file. */
export interface Mutant {
  readonly name: string;
  /** Below `libs/singleton-job/src`. */
  readonly file: string;
  readonly changes: readonly (readonly [text: string, becomes: string])[];
  readonly checks: readonly [Check, ...Check[]];
}

/** Possible mistakes with sessions, leases and locks. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'an ended session is revived',
    file: 'store/memory/in-memory-sessions.ts',
    changes: [["  if (listed?.hasEnded === true) return { status: 'ended', end: listed.end };\n", '']],
    checks: ['store contract', 'simulation'],
  },
  {
    name: 'an absent session is taken as ended',
    file: 'leadership/session-list.ts',
    changes: [['this.#sessions.get(id)?.hasEnded === true;', 'this.#sessions.get(id)?.hasEnded !== false;']],
    checks: ['unit specs', 'simulation'],
  },
  {
    name: 'the owner is compared instead of the session',
    file: 'store/memory/in-memory-locks.ts',
    changes: [
      [
        '  return session === endedSession ||',
        '  return (endedSession !== undefined && replicaOf(session) === replicaOf(endedSession)) ||',
      ],
      ['  sessionOf,\n', '  replicaOf,\n  sessionOf,\n'],
    ],
    checks: ['store contract'],
  },
  {
    name: 'sessions are looked up after the take, which grants whatever session holds the lock',
    file: 'store/memory/in-memory-locks.ts',
    changes: [['  return session === endedSession ||', '  return session !== undefined ||']],
    // a simulated story does not end: replicas take the lock from each other for ever
    checks: ['store contract'],
  },
  {
    name: 'the exemption after a restart is by session instead of term',
    file: 'leadership/after-restart.ts',
    changes: [
      [
        "return lastTerm?.end === 'preempted' && isBefore(this.clock, lastTerm.deadline);",
        'return lastTerm?.session.isValid() === true;',
      ],
    ],
    checks: ['unit specs'],
  },
  {
    name: 'a replica that has noticed a restart does not wait',
    file: 'leadership/after-restart.ts',
    changes: [['(isStateNewer && !this.#hasNoticedRestart)', 'isStateNewer']],
    checks: ['unit specs'],
  },
  {
    name: 'a heartbeat that shows a restart extends leases',
    file: 'leadership/after-restart.ts',
    changes: [['      for (const lease of this.#leases) lease.freeze();\n', '']],
    checks: ['unit specs'],
  },
  {
    name: 'the heartbeat script begins with ZADD',
    file: 'store/redis/session-scripts.ts',
    changes: [["redis.call('ZREM', sessions, '')\n", '']],
    checks: ['Redis contract'],
  },
  {
    name: 'the end of a session is raised instead of set',
    file: 'store/memory/in-memory-sessions.ts',
    changes: [['  const end = now + lockExpiryMs;', '  const end = Math.max(now + lockExpiryMs, listed?.end ?? 0);']],
    checks: ['store contract'],
  },
  {
    name: 'a session is ended before its runs have ended',
    file: 'leadership/session.ts',
    changes: [['    if (this.#users === 0) this.listener.unused(this);\n  }', '    this.listener.unused(this);\n  }']],
    checks: ['unit specs'],
  },
  {
    name: 'the deadline of a session counts from the answer',
    file: 'leadership/session.ts',
    changes: [
      [
        'const deadline = deadlineOf(sent, this.lockExpiryMs);',
        'const deadline = deadlineOf({ now: this.clock.now(), wall: this.clock.wallNow() }, this.lockExpiryMs);',
      ],
    ],
    checks: ['unit specs', 'simulation'],
  },
  {
    name: 'the heartbeat thread extends sessions after a restart',
    file: 'heartbeat-thread/backup-heartbeats.ts',
    changes: [['    return answeredSentMs > this.#restartSeenAtMs;', '    return answeredSentMs > -Infinity;']],
    checks: ['unit specs', 'simulation'],
  },
  {
    name: 'the heartbeat thread ignores the wall clock',
    file: 'heartbeat-thread/backup-heartbeats.ts',
    changes: [['isBefore(this.parts.clock, deadline);', 'this.parts.clock.now() < deadline.now;']],
    checks: ['unit specs'],
  },
  {
    name: 'the main thread takes reports from before the leases were frozen',
    file: 'leadership/after-restart.ts',
    changes: [['return freezeCount === this.#freezeCount;', 'return freezeCount <= this.#freezeCount;']],
    checks: ['unit specs'],
  },
  {
    name: 'the deadline of a session counts from the answer to the heartbeat thread',
    file: 'heartbeat-thread/backup-heartbeats.ts',
    changes: [['main.freezeCount, sent, answeredMs', 'main.freezeCount, sent: instant(this.parts.clock), answeredMs']],
    checks: ['unit specs'],
  },
];
