import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Scope } from '@nestjs/common';
import { until } from '../../tools/replicas/until.js';
import { problemsOf, startDisabled, startRunning } from '../support/nest-application.js';
import { Interval, type JobEvents, OnJobEvent } from 'nestjs-singleton-job';

// what JavaScript writes: the types would refuse it
const anywhere = OnJobEvent as (event: string) => (target: object, member?: string) => void;

/** A job that fails, and gets an event itself. */
@Injectable()
class Report {
  readonly seen: string[] = [];

  @Interval('1h', { name: 'report' })
  write(): never {
    throw new Error('no paper');
  }

  @OnJobEvent('leadershipGained')
  @OnJobEvent('runStarted')
  note({ job, fencingToken }: JobEvents['leadershipGained'] | JobEvents['runStarted']): void {
    this.seen.push(`${job} ${String(fencingToken > 0)}`);
  }
}

describe('A method with @OnJobEvent', () => {
  it('of any provider or controller is called with the payload of its event', async () => {
    class Alerts {
      readonly failures: string[] = [];

      @OnJobEvent('runFailed')
      alert({ job, error }: JobEvents['runFailed']): void {
        this.failures.push(`${job}: ${String(error)}`);
      }
    }
    @Injectable()
    class OnCall extends Alerts {}
    @Controller()
    class Page extends Alerts {}
    await using started = await startRunning({ providers: [Report, OnCall], controllers: [Page] });
    const [onCall, page, report] = [started.app.get(OnCall), started.app.get(Page), started.app.get(Report)];
    await until('the run has failed', () => page.failures.length > 0);
    expect([onCall.failures, page.failures]).toEqual([['report: Error: no paper'], ['report: Error: no paper']]);
    expect(report.seen).toEqual(['report true', 'report true']);
  });

  it.each(['REQUEST', 'TRANSIENT'] as const)('must be on a singleton (%s)', async (name) => {
    @Injectable({ scope: Scope[name] })
    class Alerts {
      @OnJobEvent('runFailed')
      alert(): void {}
    }
    expect(await problemsOf(startDisabled({ providers: [Alerts] }))).toMatchSnapshot();
  });

  it('must be on a method of an instance, and not on a class', async () => {
    @Injectable()
    class Alerts {
      static all(): void {}
      get last(): unknown {
        return undefined;
      }
    }
    anywhere('runFailed')(Alerts.prototype, 'last');
    anywhere('runFailed')(Alerts, 'all');
    anywhere('runFailed')(Alerts);
    expect(await problemsOf(startDisabled({ providers: [Alerts] }))).toMatchSnapshot();
  });

  it('of a class that is no provider leads to a line at the start', async () => {
    class Forgotten {
      @OnJobEvent('runFailed')
      alert(): void {}
    }
    await using started = await startDisabled({ providers: [Report] });
    const lines = started.logger.lines.filter((line) => line.includes('@OnJobEvent'));
    const line = new RegExp(`^log: these have .* no events here: .*${Forgotten.name}.* Add them to the`);
    expect(lines).toEqual([expect.stringMatching(line)]);
    expect(lines.join()).not.toContain('Report');
  });

  it('must name an event that exists', async () => {
    @Injectable()
    class Alerts {
      alert(): void {}
    }
    anywhere('runFaild')(Alerts.prototype, 'alert');
    const mistake =
      "Alerts.alert: @OnJobEvent must have the name of an event, got 'runFaild': did you mean 'runFailed'?";
    expect(await problemsOf(startDisabled({ providers: [Alerts] }))).toEqual([mistake]);
  });
});
