import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FixedRate, type JobRun, SingletonJobModule } from 'nestjs-singleton-job';

@Injectable()
export class Prices {
  private readonly logger = new Logger(Prices.name);

  @FixedRate('2s', { name: 'price-tick' })
  async tick(run: JobRun) {
    await run.sleep('100ms'); // your work; pass run.signal on
    this.logger.log(`updated the prices of ${run.scheduledAt.toISOString()}`);
  }
}

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: 'shop',
      connection: process.env.REDIS_URL ?? process.env.DATABASE_URL ?? 'sqlite:./jobs.db',
    }),
  ],
  providers: [Prices],
})
export class AppModule {}

async function bootstrap() {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks(); // on SIGTERM or Ctrl-C, end the run and hand over
}

void bootstrap();
