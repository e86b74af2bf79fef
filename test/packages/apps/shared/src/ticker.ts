import { Injectable } from '@nestjs/common';
import { FixedRate, type JobRun } from 'nestjs-singleton-job';

@Injectable()
export class Ticker {
  runs = 0;
  readonly firstRun: Promise<JobRun>;
  private settle: (run: JobRun) => void = () => undefined;

  constructor() {
    this.firstRun = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  @FixedRate('50ms', { name: 'tick' })
  tick(run: JobRun): void {
    this.runs += 1;
    run.assertLeader();
    this.settle(run);
  }
}
