import { describe, expect, it } from '@jest/globals';
import { messageOf } from '../../libs/singleton-job/src/base/errors/message-of.js';
import { type RedisServerOptions } from '../../tools/replicas/redis/index.js';
import { SILENT, SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { FaultRun } from './support/fault-run.js';

/** P4: within a second of Redis coming back, and a lock expiry later if it is another server. */
const BACK_MS = 1_000 + SLACK_MS;

interface Outage {
  readonly name: string;
  readonly redis?: RedisServerOptions;
  readonly begin: (faultRun: FaultRun) => unknown;
  readonly end: (faultRun: FaultRun) => unknown;
  /** The text of its one log line. */
  readonly says: RegExp;
  /** Its answer to any request during the outage. */
  readonly answers?: RegExp;
  /** Whether it is another server then. */
  readonly isOther?: true;
}

const DEBUG = ['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'];
/** The end of a connection, and the error of a command, depend on what was under way and in which direction. */
const CUT_OFF = /the connection was closed|Connection is closed|ECONNRESET|ECONNREFUSED|EPIPE/;
const NOWHERE = ['127.0.0.1', 1] as const;

const isOutage = (line: string): boolean => line.startsWith('error: ');
const scopeOf = (line: string): string => /\[(.*?)\]/.exec(line)?.[1] ?? '';
const isRecovery = (line: string): boolean => line.includes('Redis is available again');

const OUTAGES: readonly Outage[] = [
  {
    name: 'whose connections are all half open',
    begin: (faultRun) => faultRun.everywhere('freeze'),
    end: (faultRun) => faultRun.everywhere('thaw'),
    says: SILENT,
  },
  {
    name: 'whose connections are reset, and each new one too',
    begin: (faultRun) => faultRun.everywhere('refuse'),
    end: (faultRun) => faultRun.everywhere('accept'),
    says: CUT_OFF,
  },
  {
    name: 'that was killed and kept its data',
    redis: { appendOnly: true },
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.up(),
    says: CUT_OFF,
    isOther: true,
  },
  {
    name: 'that was killed and lost its data',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.up(),
    says: CUT_OFF,
    isOther: true,
  },
  {
    name: 'that pauses every client',
    begin: ({ admin }) => admin.client('PAUSE', 9_000, 'ALL'),
    end: ({ admin }) => admin.ping(),
    says: SILENT,
  },
  {
    name: 'that pauses every writer',
    begin: ({ admin }) => admin.client('PAUSE', 60_000, 'WRITE'),
    end: ({ admin }) => admin.client('UNPAUSE'),
    says: SILENT,
  },
  {
    name: 'that is busy with an endless script',
    redis: { args: ['--busy-reply-threshold', '20'] },
    begin: ({ admin }) => {
      const stranger = admin.duplicate();
      stranger
        .eval('while true do end', 0)
        .catch(() => undefined)
        .finally(() => {
          stranger.disconnect();
        });
    },
    end: ({ admin }) => admin.script('KILL'),
    says: /BUSY|no answer within/,
    answers: /^BUSY/,
  },
  {
    name: 'that loads its data',
    redis: { args: DEBUG },
    begin: async ({ admin }) => {
      await admin.call('DEBUG', 'POPULATE', 20_000);
      await admin.config('SET', 'key-load-delay', 1_000);
      const stranger = admin.duplicate();
      stranger
        .call('DEBUG', 'RELOAD')
        .catch(() => undefined)
        .finally(() => {
          stranger.disconnect();
        });
    },
    end: ({ admin }) => admin.config('SET', 'key-load-delay', 0),
    says: /LOADING|no answer within/,
    answers: /^LOADING/,
  },
  {
    name: 'that was stopped, and loads its data slowly',
    redis: { args: [...DEBUG, '--key-load-delay', '100'] },
    begin: async ({ admin, server }) => {
      await admin.call('DEBUG', 'POPULATE', 20_000);
      await server.down();
    },
    end: ({ server }) => server.up(),
    says: CUT_OFF,
    isOther: true,
  },
  {
    name: 'that was demoted to a replica',
    begin: ({ admin }) => admin.replicaof(...NOWHERE),
    end: ({ admin }) => admin.replicaof('NO', 'ONE'),
    says: /READONLY/,
  },
  {
    name: 'that is a replica without a primary and serves no old data',
    redis: { args: ['--replica-serve-stale-data', 'no'] },
    begin: ({ admin }) => admin.replicaof(...NOWHERE),
    end: ({ admin }) => admin.replicaof('NO', 'ONE'),
    says: /MASTERDOWN/,
  },
];

const answerOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => '',
    (error: unknown) => messageOf(error),
  );

describe('a Redis', () => {
  it.concurrent.each(OUTAGES)(
    '$name ends all terms at their deadlines, and each replica logs two lines',
    async ({ redis, begin, end, says, answers, isOther }) => {
      await using faultRun = await FaultRun.start(redis);
      const { pair } = faultRun;
      const from = pair.replicas.map(({ lines }) => lines.length);
      const logLines = () =>
        pair.replicas.map(({ lines }, index) =>
          lines.slice(from[index]).filter((line) => !/became LEADER|follows/.test(line)),
        );
      await begin(faultRun);
      if (answers !== undefined)
        await pair.until('it is so', async () => answers.test(await answerOf(faultRun.admin.get('anything'))));
      await pair.until('every term is over', () => pair.leader.leads.size === 0, {
        withinMs: LOCK_EXPIRY_MS + SLACK_MS,
      });
      const overMs = performance.now();
      await pair.until('both know that Redis does not answer', () => logLines().every((lines) => lines.some(isOutage)));
      const endsMs = performance.now();
      const during = logLines().map((lines) => lines.length);
      await end(faultRun);
      await pair.goesOn({ withinMs: isOther ? BACK_MS + LOCK_EXPIRY_MS : BACK_MS });
      await pair.until('both know that Redis answers', () =>
        logLines().every((lines) => lines.filter(isOutage).length === lines.filter(isRecovery).length),
      );

      expect(pair.violations()).toEqual([]);
      expect(pair.runs.filter(({ startedAtMs }) => startedAtMs > overMs && startedAtMs < endsMs)).toEqual([]);
      expect(logLines().flat().filter(isOutage)).toContainEqual(expect.stringMatching(says));
      logLines().forEach((lines, index) => {
        const lost = lines.filter((line) => line.includes('lost leadership'));
        expect(lost).toHaveLength(index === 0 ? pair.jobNames.length : 0);
        const outages = lines.filter(isOutage);
        // the requests of one job may be answered too late while others are not: each has its own two lines
        for (const scope of new Set(lines.map(scopeOf))) {
          const ofOne = lines.filter((line) => scopeOf(line) === scope && !lost.includes(line));
          expect(ofOne).toEqual(
            ofOne
              .filter(isOutage)
              .flatMap((line) => [line, expect.stringMatching(/^log: .* Redis is available again after/)]),
          );
        }
        // a busy machine may be slow to answer for a moment, before or after
        expect(outages.filter((line) => !says.test(line) && !SILENT.test(line))).toEqual([]);
        const isOurs = (line: string, at: number) =>
          says.test(line) && (at < (during[index] ?? 0) || !SILENT.test(line));
        expect(lines.filter(isOurs).length).toBeLessThanOrEqual(1);
      });
    },
  );
});
