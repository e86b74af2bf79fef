import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { type JobObserver, type JobRun, SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';
import { type BenchEvent, type Happening, type JobSpec, nowMs, type ReplicaSettings } from './events.js';

/** One process with one or more replicas. It uses the public API only, so that it runs on every version of the library. */
const settings = JSON.parse(process.env['BENCH_REPLICA'] ?? '{}') as ReplicaSettings;

const STEP_MS = 20;

class Replica {}

let runs = 0;

async function start(node: string): Promise<void> {
  const record = (happening: Happening): void => {
    process.send?.({ ...happening, node, atMs: nowMs() } satisfies BenchEvent);
  };

  const observer: JobObserver = {
    leadershipGained: ({ job, fencingToken }) => {
      record({ type: 'gained', job, token: fencingToken });
    },
    leadershipLost: ({ job, fencingToken }) => {
      record({ type: 'lost', job, token: fencingToken });
    },
    leadershipReleased: ({ job, fencingToken }) => {
      record({ type: 'released', job, token: fencingToken });
    },
    tickDropped: ({ job, scheduledAt, count }) => {
      if (settings.recordsRuns) record({ type: 'dropped', job, scheduledAt: scheduledAt.getTime(), count });
    },
    occurrencesMissed: ({ job, from, to }) => {
      record({ type: 'missed', job, from: from.getTime(), to: to.getTime() });
    },
  };

  // The times of a run are those of the job's own code, not those at which the library reports it.
  const runOf =
    ({ name: job, runMs }: JobSpec) =>
    async ({ signal, fencingToken: token, scheduledAt }: JobRun): Promise<void> => {
      const run = ++runs;
      const onAbort = (): void => {
        record({ type: 'aborted', job, run });
      };
      record({ type: 'started', job, token, run, scheduledAt: scheduledAt.getTime() });
      signal.addEventListener('abort', onAbort);
      try {
        // In steps, so that a run that was suspended still has work to do when its process goes on.
        for (let left = runMs; left > 0; left -= STEP_MS) await delay(Math.min(left, STEP_MS), undefined, { signal });
      } finally {
        signal.removeEventListener('abort', onAbort);
        record({ type: 'ended', job, run });
      }
    };

  const { lockExpiry, heartbeatInterval, redisPort: port } = settings;
  const library = SingletonJobModule.forRoot({
    projectName: 'bench',
    // MONITOR shows the name, so that commands can be attributed to a replica
    connection: { host: '127.0.0.1', port, connectionName: node },
    nodeId: node,
    observers: [observer],
    ...(lockExpiry === undefined ? {} : { lockExpiry }),
    ...(heartbeatInterval === undefined ? {} : { heartbeatInterval }),
  });
  const registered = {
    provide: 'JOBS',
    inject: [SingletonJobRegistry],
    useFactory: (registry: SingletonJobRegistry): void => {
      for (const job of settings.jobs) {
        const run = settings.recordsRuns ? runOf(job) : () => undefined;
        registry.register({ name: job.name, schedule: job.schedule, run });
      }
    },
  };
  const root = { module: Replica, imports: [library], providers: [registered] };
  await NestFactory.createApplicationContext(root);
  record({ type: 'ready' });
}

Logger.overrideLogger(['fatal', 'error']);
// A replica never outlives the measurement.
process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ type: 'cpu', cpuMs: (user + system) / 1_000 });
});
for (const node of settings.nodes) await start(node);
