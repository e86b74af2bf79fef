// table-jobs.ts
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type JobRun, SingletonJobRegistry } from 'nestjs-singleton-job';

type Row = { name: string; cron: string; timeZone: string };

/** Your table: one row for each job, such as one for each tenant. */
export abstract class Schedules {
  abstract all(): Promise<Row[]>;
  abstract run(name: string, run: JobRun): Promise<void>;
}

@Injectable()
export class TableJobs implements OnModuleInit {
  private readonly logger = new Logger(TableJobs.name);
  private readonly known = new Map<string, string>();

  constructor(
    private readonly jobs: SingletonJobRegistry,
    private readonly schedules: Schedules,
  ) {}

  async onModuleInit(): Promise<void> {
    try {
      await this.follow(await this.schedules.all());
    } catch (error) {
      this.logger.error(error);
    }
    setTimeout(() => void this.onModuleInit(), 60_000).unref();
  }

  private async follow(rows: Row[]): Promise<void> {
    const texts = new Map(rows.map((row) => [row.name, JSON.stringify(row)]));
    for (const [name, text] of this.known) {
      if (texts.get(name) === text) continue;
      this.known.delete(name);
      await this.jobs.unregister(name); // waits for its run
    }
    for (const row of rows) if (!this.known.has(row.name)) this.register(row);
  }

  private register(row: Row): void {
    const { name, cron, timeZone } = row;
    try {
      this.jobs.register({ name, schedule: { cron, timeZone }, run: (run) => this.schedules.run(name, run) });
      this.known.set(name, JSON.stringify(row));
    } catch (error) {
      this.logger.error(error); // a wrong expression
    }
  }
}
