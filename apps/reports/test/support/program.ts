import { Body, ConsoleLogger, Controller, Injectable, Post } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { type JobEvents, type JobRun, OnJobEvent } from 'nestjs-singleton-job';
import { setTimeout as delay } from 'node:timers/promises';
import { WebModule, WorkerModule } from '../../src/app.module.js';
import { DurableJobs } from '../../src/durable-jobs/durable-jobs.js';
import { type JobContext, JobHandler, JobHandlers } from '../../src/durable-jobs/job-handler.js';
import { JobStore } from '../../src/durable-jobs/job-store.js';
import { RunHistory } from '../../src/history/run-history.js';
import { type Checkpoint, ReportStore } from '../../src/reports/report-store.js';
import { Schedules } from '../../src/schedules.js';
import { limitStop } from '../../src/start.js';

const { ROLE, DIE_AT, PAGE_TAKES_MS, CLOCK_AHEAD_MS, TWICE, CATCH_UP, AWAIT_OUTAGE, AWAIT_DROP } = process.env;
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('dead');
};
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Dies after a report was claimed, before the first line of its handler. */
@Injectable()
class DyingHandlers extends JobHandlers {
  override find(type: string) {
    const found = super.find(type);
    return found && type === 'report' && DIE_AT === 'claim' ? { ...found, run: die } : found;
  }
}

@Injectable()
class DyingStore extends ReportStore {
  override async savePage(id: string, page: string, checkpoint: Checkpoint): Promise<void> {
    await super.savePage(id, page, checkpoint);
    if (DIE_AT === 'page' && checkpoint.pages === 1) die();
  }

  override async storeResult(id: string, header: string, count: number): Promise<void> {
    await super.storeResult(id, header, count);
    if (DIE_AT === 'result') die();
  }
}

@Injectable()
class SlowHistory extends RunHistory {
  override async page(span: { from: number; to: number }, cursor?: string) {
    print(`reads after ${cursor ?? 'nothing'} from ${String(span.from)} to ${String(span.to)}`);
    await delay(Number(PAGE_TAKES_MS ?? 0));
    return super.page(span, cursor);
  }
}

/** `AWAIT_OUTAGE`: the URL of Redis. A run on schedule enqueues only when Redis has gone away. */
const outage =
  AWAIT_OUTAGE && new Promise((resolve) => new Redis(AWAIT_OUTAGE).on('error', () => undefined).once('close', resolve));

/** `AWAIT_DROP`: a triggered run ends only when a fire time was dropped. */
let onDrop: () => void;
const drop = new Promise<void>((resolve) => {
  onDrop = resolve;
});

@Injectable()
class DyingSchedules extends Schedules {
  protected override readonly lookEveryMs = 3_000;

  @OnJobEvent('tickDropped')
  dropped({ job, scheduledAt }: JobEvents['tickDropped']): void {
    if (job !== 'daily-report') return;
    print(`dropped the daily report at ${String(scheduledAt.getTime())}`);
    onDrop();
  }

  override async dailyReport(run: JobRun): Promise<void> {
    const at = String(run.scheduledAt.getTime());
    print(`${run.cause} of the daily report at ${at}`);
    if (DIE_AT === 'tick' && run.cause !== 'trigger') die();
    if (run.cause === 'schedule') await outage;
    await super.dailyReport(run);
    if (run.cause === 'trigger' && AWAIT_DROP !== undefined) await drop;
  }

  /** Elsewhere a daily report would be one more report. */
  override async catchUp(event: JobEvents['leadershipGained']): Promise<void> {
    if (CATCH_UP !== undefined) await super.catchUp(event);
  }
}

if (CLOCK_AHEAD_MS !== undefined) {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(at?: number | string | Date) {
      super(at ?? RealDate.now() + Number(CLOCK_AHEAD_MS));
    }
  } as DateConstructor;
}

if (DIE_AT === 'complete') {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its own this
  const complete = Job.prototype.moveToCompleted;
  Job.prototype.moveToCompleted = async function (...args) {
    await complete.apply(this, args);
    return die();
  };
}

@Injectable()
class TestHandlers {
  @JobHandler('echo', { deduplicateBy: (payload: { key?: string }) => payload.key ?? Math.random().toString() })
  async echo(payload: unknown): Promise<unknown> {
    print(`echo ${JSON.stringify(payload)}`);
    return payload;
  }

  @JobHandler('sleep', { timeout: 300_000 })
  async sleep({ ms }: { ms: number }, { signal }: JobContext): Promise<void> {
    print('sleeps');
    await delay(ms, undefined, { signal }).catch(() => print('signal fired'));
  }

  @JobHandler('hang', { timeout: 300 })
  async hang(): Promise<void> {
    await delay(10_000);
  }

  @JobHandler('fail', { retries: 2, retryDelay: 200 })
  async fail({ times }: { times: number }, { id }: JobContext): Promise<string> {
    const run = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, run);
    if (run <= times) throw new Error(`failure ${String(run)}`);
    return 'at last';
  }

  readonly #runs = new Map<string, number>();
}

/** Started only where it is wanted. */
@Injectable()
class SecondEcho {
  @JobHandler('echo')
  async echo(): Promise<void> {
    // never called
  }
}

const PROVIDERS = { jobs: DurableJobs, store: JobStore };

@Controller('call')
class CallController {
  constructor(private readonly modules: ModuleRef) {}

  @Post()
  async call(
    @Body() { provider, method, args }: { provider: keyof typeof PROVIDERS; method: string; args: unknown[] },
  ) {
    const target = this.modules.get<Record<string, (...args: unknown[]) => unknown>>(PROVIDERS[provider], {
      strict: false,
    });
    const dated = args.map((arg) => (typeof arg === 'string' && /^\d{4}-.*Z$/.test(arg) ? new Date(arg) : arg));
    try {
      return { result: (await target[method]?.(...dated)) ?? null };
    } catch (error) {
      return { error: String(error) };
    }
  }
}

const module = Test.createTestingModule({
  imports: [ROLE === 'web' ? WebModule : WorkerModule],
  controllers: [CallController],
  providers: [TestHandlers, ...(TWICE === undefined ? [] : [SecondEcho])],
});
module.overrideProvider(JobHandlers).useClass(DyingHandlers);
module.overrideProvider(ReportStore).useClass(DyingStore);
module.overrideProvider(RunHistory).useClass(SlowHistory);
if (ROLE === 'web') module.overrideProvider(Schedules).useClass(DyingSchedules);

module.setLogger(new ConsoleLogger());
// eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest has a class for these, and takes any object
const app = (await module.compile()).createNestApplication({ forceCloseConnections: true });
app.enableShutdownHooks();
limitStop(Number(process.env['STOP_LIMIT_MS']));
await app.listen(0, '127.0.0.1');
print(`answers at ${await app.getUrl()}`);
