import 'reflect-metadata';
import {
  type DynamicModule,
  Global,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, SingletonJobModule } from 'nestjs-singleton-job';

type Imports = NonNullable<ModuleMetadata['imports']>;

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

const PLACES: Record<string, (jobs: DynamicModule) => Imports> = {
  first: (jobs) => [jobs, DatabaseModule],
  last: (jobs) => [DatabaseModule, jobs],
  nested: (jobs) => [nested(jobs), DatabaseModule],
};

function nested(jobs: DynamicModule): DynamicModule {
  class InnerModule {}
  class OuterModule {}
  return { module: OuterModule, imports: [{ module: InnerModule, imports: [jobs] }] };
}

/** What became of a run that was in flight when the application was closed. */
async function outcomeOf(imports: Imports): Promise<string> {
  class RootModule {}
  Module({ imports, providers: [Report] })(RootModule);
  const app = await NestFactory.createApplicationContext(RootModule, { logger: ['error'] });
  const report = app.get(Report, { strict: false });
  await report.begun;
  await app.close();
  return report.database.isOpen ? 'left its database open' : report.outcome;
}

/** Wherever the module stands, a run in flight at `app.close()` can use what it depends on. */
async function main(): Promise<void> {
  for (const [place, importsAt] of Object.entries(PLACES)) {
    const outcome = await outcomeOf(
      importsAt(SingletonJobModule.forRoot({ projectName: 'consumer', store: 'memory' })),
    );
    const sentence = `SingletonJobModule imported ${place}: a job ${outcome}`;
    if (outcome !== 'used its database to the end') throw new Error(sentence);
    console.log(sentence);
  }
}

void main();
