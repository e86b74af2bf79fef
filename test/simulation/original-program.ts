import { JobRun } from '../../libs/singleton-job/src/decorators/index.js';
import { asLockStoreError } from '../../libs/singleton-job/src/errors/index.js';
import { type JobDefinition } from '../../libs/singleton-job/src/discovery/index.js';
import { type OriginalVersion } from '../support/original-belief.js';
import { OriginalReplica, type OriginalRun } from '../support/original-replica.js';
import { type OriginalServer } from '../support/original-server.js';
import { originalInMemory } from './original-in-memory.js';
import { type Command } from './plan.js';
import { type Program, type ProgramParts } from './simulated-process.js';

/** After this many heartbeats the original's client gives a call up: 5 s of 3 s. */
const PATIENCE = 5 / 3;

/** The original in place of the library: the same jobs, clocks, network and faults. */
export function originalProgram(version: OriginalVersion): Program {
  return (parts) => {
    const server = overTheNetwork(parts);
    const replicas = parts.jobs.map((job) => start(job, { version, server, parts }));
    return {
      stop: async () => {
        await Promise.all(replicas.map((replica) => replica.stop()));
      },
    };
  };
}

interface Starting {
  readonly version: OriginalVersion;
  readonly server: OriginalServer;
  readonly parts: ProgramParts;
}

function start(job: JobDefinition, { version, server, parts }: Starting): OriginalReplica {
  const { name, clock, random, options } = parts;
  const replica = new OriginalReplica({
    version,
    server,
    clock,
    random,
    project: options.projectName,
    job: job.name,
    // a witness knows its processes by the part before the '#'
    nodeId: `${name}#`,
    schedule: job.schedule,
    heartbeatIntervalMs: options.heartbeatIntervalMs,
    lockExpiryMs: job.lockExpiryMs,
    maxBackoffDelayMs: 10 * options.heartbeatIntervalMs,
    run: async (run) => {
      await job.invoke(asJobRun(run, job, clock.wallNow()));
    },
    believes: (isLeader) => {
      if (isLeader) parts.notify('leadershipGained', { job: job.name, fencingToken: 0 });
      else parts.notify('leadershipLost', { job: job.name, fencingToken: 0, reason: 'expired' });
    },
  });
  replica.start();
  return replica;
}

/** A run of the original: it has no fencing token, and its signal never fires. */
function asJobRun({ scheduledAt }: OriginalRun, { name, schedule }: JobDefinition, wall: number): JobRun {
  const info = { job: name, kind: schedule.kind, cause: 'schedule', scheduledAt, startedAt: new Date(wall) } as const;
  return new JobRun({ ...info, fencingToken: 0 }, new AbortController().signal, () => true);
}

function overTheNetwork({ server, store, clock, options }: ProgramParts): OriginalServer {
  const real = originalInMemory(server);
  const patienceMs = PATIENCE * options.heartbeatIntervalMs;
  const ask = (command: Command, carryOut: () => Promise<boolean>): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimer(patienceMs, () => {
        reject(new Error(`no answer within ${patienceMs} ms`));
      });
      store.send(command, carryOut).then(
        (answer) => {
          timer.cancel();
          resolve(answer);
        },
        (error: unknown) => {
          timer.cancel();
          reject(asLockStoreError(error));
        },
      );
    });
  return {
    setIfFree: (lock) => ask('acquire', () => real.setIfFree(lock)),
    renewIfMine: (lock) => ask('renew', () => real.renewIfMine(lock)),
    acquireOrRenew: (lock) => ask('acquire', () => real.acquireOrRenew(lock)),
    release: (lock) => ask('release', () => real.release(lock)),
  };
}
