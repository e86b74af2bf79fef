import 'reflect-metadata';
import assert from 'node:assert/strict';
import { Global, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, SingletonJobModule } from 'nestjs-singleton-job';

@Injectable()
class Database implements OnModuleDestroy {
  isOpen = true;

  onModuleDestroy(): void {
    this.isOpen = false;
  }
}

/** A job that uses the database at its end. */
@Injectable()
class Report {
  outcome = 'did not end';
  readonly begun: Promise<void>;
  private begin: () => void = () => undefined;

  constructor(readonly database: Database) {
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  @Interval('1h', { name: 'report' })
  async write(): Promise<void> {
    this.begin();
    await new Promise((resolve) => setTimeout(resolve, 50));
    this.outcome = this.database.isOpen ? 'used its database to the end' : 'found its database closed';
  }
}

@Global()
@Module({ providers: [Database], exports: [Database] })
class DatabaseModule {}

const jobs = SingletonJobModule.forRoot({ projectName: 'consumer', store: 'memory' });
const nested = { module: class OuterModule {}, imports: [{ module: class InnerModule {}, imports: [jobs] }] };

/** Wherever the module stands, a run in flight at `app.close()` can use what it depends on. */
async function main(): Promise<void> {
  for (const imports of [
    [jobs, DatabaseModule],
    [DatabaseModule, jobs],
    [nested, DatabaseModule],
  ]) {
    class RootModule {}
    Module({ imports, providers: [Report] })(RootModule);
    const app = await NestFactory.createApplicationContext(RootModule, { logger: ['error'] });
    const report = app.get(Report, { strict: false });
    await report.begun;
    await app.close();
    assert.deepEqual([report.database.isOpen, report.outcome], [false, 'used its database to the end']);
  }
  console.log('a job used its database to the end, wherever SingletonJobModule is imported');
}

void main();
