import {
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  Cron,
  FixedRate,
  InvalidJobsError,
  type JobRegistration,
  type JobStatus,
  SingletonJobModule,
  type SingletonJobOptions,
  SingletonJobRegistry,
} from 'nestjs-singleton-job';
import { problemsOf, type StartedApplication, startApplication, startDisabled } from '../support/nest-application.js';
import { useRedisServer } from '../support/use-redis.js';
import { until } from '../../tools/replicas/until.js';

@Injectable()
class Prices {
  runs = 0;

  @FixedRate('100ms', { name: 'price-tick' })
  tick(): void {
    this.runs += 1;
  }

  @Cron('0 3 1 1 *', { name: 'yearly' })
  yearly(): void {
    this.runs += 1;
  }
}

const beat = (run: JobRegistration['run'] = () => undefined): JobRegistration => ({
  name: 'beat',
  schedule: { delay: '50ms' },
  run,
});

describe('SingletonJobRegistry', () => {
  describe('on two replicas', () => {
    const server = useRedisServer();
    const started: StartedApplication[] = [];
    let redis: Redis;

    beforeEach(() => {
      redis = new Redis(server().url);
    });

    afterEach(async () => {
      await Promise.all(started.splice(0).map((application) => application[Symbol.asyncDispose]()));
      await redis.flushall();
      redis.disconnect();
    });

    const start = async (nodeId: string, root: ModuleMetadata = { providers: [Prices] }) => {
      const options: SingletonJobOptions = {
        projectName: 'myapp',
        connection: server().url,
        heartbeatInterval: '200ms',
        // nothing here waits for it, and a busy machine loses none
        lockExpiry: '10s',
        nodeId,
      };
      const application = await startApplication({
        ...root,
        imports: [...(root.imports ?? []), SingletonJobModule.forRoot(options)],
      });
      started.push(application);
      const registry = application.app.get(SingletonJobRegistry);
      const status = (name = 'price-tick'): JobStatus => registry.get(name);
      return { ...application, registry, status };
    };

    const pair = async () => {
      const a = await start('a');
      await until('the first leads', () => a.status().role === 'leader' && a.status('yearly').role === 'leader');
      const b = await start('b');
      await until('the second knows who leads', () => b.registry.list().every(({ leader }) => leader !== null));
      return [a, b] as const;
    };

    it('cannot steer without a connection', async () => {
      const module = SingletonJobModule.forRoot({ projectName: 'myapp', enabled: false });
      await using started = await startApplication({ imports: [module], providers: [Prices] });
      const jobs = started.app.get(SingletonJobRegistry);
      for (const call of [jobs.trigger('price-tick'), jobs.pause('price-tick')])
        await expect(call).rejects.toThrow(
          'trigger(), pause(), resume() and stepDown() need a connection:\n  - connection must be given to steer jobs of other replicas',
        );
    });

    it('agrees on the leader, in plain data', async () => {
      const [a, b] = await pair();
      await until('a run has ended', () => a.status().counters.succeeded > 2);
      const [own, other] = [a.status(), b.status()];
      expect(own).toMatchObject({ role: 'leader', leader: expect.stringMatching(/^a-[0-9a-f]{8}$/) });
      expect(other).toMatchObject({ role: 'follower', leader: own.leader, lastRun: null });
      const record = String(await redis.get('{myapp}:price-tick:lock'));
      expect(record).toContain(`"holder":"${String(own.leader)}.1@`);
      expect(record).toContain(`"fencingToken":${String(own.fencingToken)}`);
      for (const { registry } of [a, b]) {
        const list = registry.list();
        expect(JSON.parse(JSON.stringify(list))).toEqual(list);
        expect(list.map(({ name }) => name)).toEqual(['price-tick', 'yearly']);
      }
    });

    it('steers a job from a follower, and keeps a pause across a deploy', async () => {
      const [a, b] = await pair();
      const ofA = expect.stringMatching(/^a-/);
      expect(await b.registry.trigger('yearly')).toMatchObject({ started: true, by: ofA });
      await until('the run has ended on its leader', () => a.status('yearly').lastRun?.cause === 'trigger');
      expect(await b.registry.stepDown('yearly')).toEqual({ steppedDown: true, by: ofA });
      await until('the other leads', () => b.status('yearly').role === 'leader');

      expect(await b.registry.pause('price-tick')).toEqual({ by: ofA });
      const isPaused = ({ status }: typeof a) => status().role === 'paused' && status().pausedAt !== null;
      await until('both list the pause', () => [a, b].every(isPaused));
      expect(await redis.get('{myapp}:price-tick:lock')).toMatch(/"pausedAt":\d{13}/);
      expect(await b.registry.trigger('price-tick')).toMatchObject({ started: false, reason: 'paused' });
      await Promise.all([a.app.close(), b.app.close()]);
      const c = await start('c');
      await until('the next one lists it', () => isPaused(c));
      expect(c.status().counters.terms).toBe(0);
      expect(await c.registry.resume('price-tick')).toEqual({ by: expect.stringMatching(/^c-/) });
      await until('it runs', () => c.status().counters.succeeded > 0);
    });

    it('runs jobs that are registered in a constructor, during the start, and after it', async () => {
      const ran = new Set<string>();
      const registration = (name: string): JobRegistration => ({ ...beat(() => ran.add(name)), name });

      @Injectable()
      class Registrar implements OnModuleInit, OnApplicationBootstrap {
        constructor(private readonly jobs: SingletonJobRegistry) {
          jobs.register(registration('constructor'));
        }

        onModuleInit(): void {
          this.jobs.register(registration('on-module-init'));
        }

        onApplicationBootstrap(): void {
          this.jobs.register(registration('on-application-bootstrap'));
        }
      }

      const { app, registry } = await start('a', { providers: [Registrar] });
      registry.register(registration('later'));

      @Module({})
      class LateModule {}

      // Nest calls no hooks of such a module
      await app.get(LazyModuleLoader).load(() => LateModule);
      registry.register(registration('lazy'));
      await until('all have run', () => ran.size === 5);
      expect(registry.list().map(({ name }) => name)).toEqual([
        'constructor',
        'on-module-init',
        'on-application-bootstrap',
        'later',
        'lazy',
      ]);
    });

    it('pauses a job from the beginning if that is called before the start', async () => {
      @Injectable()
      class Cautious implements OnModuleInit, OnApplicationBootstrap {
        problem: unknown;

        constructor(private readonly jobs: SingletonJobRegistry) {}

        async onModuleInit(): Promise<void> {
          await this.jobs.pause('price-tick').catch((error: unknown) => (this.problem = error));
        }

        async onApplicationBootstrap(): Promise<void> {
          await this.jobs.pause('price-tick');
        }
      }

      const { app, registry, status } = await start('a', { providers: [Prices, Cautious] });
      await until('the other job is led', () => status('yearly').role === 'leader');
      await until('the pause is known', () => status().role === 'paused');
      expect(status().counters.terms).toBe(0);
      expect(String(app.get(Cautious).problem)).toContain('jobs are found when the application starts');
      await registry.resume('price-tick');
      await until('it is led', () => status().role === 'leader');
    });
  });

  describe('of an application whose jobs do not run', () => {
    it('lists them, checks registrations, and runs none', async () => {
      await using application = await startDisabled({ providers: [Prices] });
      const registry = application.app.get(SingletonJobRegistry);
      registry.register(beat());
      expect(registry.list().map(({ name, role }) => `${name} ${role}`)).toEqual([
        'price-tick disabled',
        'yearly disabled',
        'beat disabled',
      ]);
      await registry.unregister('beat');
    });
  });

  describe('checks registrations', () => {
    const registering = (registration: object): ModuleMetadata => {
      @Injectable()
      class Registrar {
        constructor(jobs: SingletonJobRegistry) {
          jobs.register(registration as JobRegistration);
        }
      }
      return { providers: [Registrar, Prices] };
    };

    it('and applies overrides to them', async () => {
      const jobs = { beat: { delay: '7s', enabled: false }, 'price-tick': { period: '9s' } } as const;
      await using application = await startDisabled(registering(beat()), { jobs });
      const registry = application.app.get(SingletonJobRegistry);
      expect(registry.get('beat').schedule).toBe('interval 7000ms');
      expect(registry.get('price-tick').schedule).toBe('fixed-rate 9000ms offset 0ms');
    });

    it('and refuses a name that a decorated job has, naming both places', async () => {
      const twice = registering({ ...beat(), name: 'price-tick' });
      expect(await problemsOf(startDisabled(twice))).toMatchSnapshot();
    });

    it.each<[string, unknown]>([
      ['what is no object', 7],
      ['everything missing', {}],
      ['leadership that is turned off', { ...beat(), schedule: { whileLeader: false } }],
      ['options that a @WhileLeader job does not have', { ...beat(), schedule: { whileLeader: true }, timeout: '5s' }],
      ['two schedules', { ...beat(), schedule: { delay: '1s', period: '1s' } }],
      ['what does not belong to a schedule', { ...beat(), schedule: { delay: '1s', offset: '5s', cron: undefined } }],
      [
        'options of other kinds, and values that are none',
        { ...beat(), name: 'a b', overlap: 'skip', timeout: 'long', lockExpiry: '10ms', nonsense: 1 },
      ],
      ['an expression that is none', { ...beat(), schedule: { cron: 'never', timeZone: 'Mars/Phobos' } }],
    ])('and refuses %s', async (_, registration) => {
      await using application = await startDisabled({});
      const registry = application.app.get(SingletonJobRegistry);
      let reported: unknown;
      try {
        registry.register(registration as JobRegistration);
      } catch (error: unknown) {
        if (error instanceof InvalidJobsError) reported = error.problems;
      }
      expect(reported).toMatchSnapshot();
      expect(registry.list()).toEqual([]);
    });

    it('and warns about an override for a later one, which counts', async () => {
      const jobs = { beat: { delay: '7s' } } as const;
      await using application = await startDisabled({ providers: [Prices] }, { jobs });
      expect(application.logger.lines).toContainEqual(expect.stringMatching(/^warn: jobs\.beat is no job/));
      const registry = application.app.get(SingletonJobRegistry);
      registry.register(beat());
      expect(registry.get('beat').schedule).toBe('interval 7000ms');
    });
  });
});
