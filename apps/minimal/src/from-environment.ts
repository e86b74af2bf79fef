import { Injectable, Logger, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { Cron, FixedRate, type JobRun, SingletonJobModule } from 'nestjs-singleton-job';
import { singletonJobConfig } from 'nestjs-singleton-job/config';

@Injectable()
export class Reports {
  private readonly logger = new Logger(Reports.name);

  @Cron('0 3 * * *', { name: 'daily-report' })
  write(run: JobRun) {
    this.logger.log(`wrote the report of ${run.scheduledAt.toISOString()}`);
  }
}

@Injectable()
export class Prices {
  private readonly logger = new Logger(Prices.name);

  @FixedRate('2s', { name: 'price-tick' })
  tick(run: JobRun) {
    this.logger.log(`updated the prices of ${run.scheduledAt.toISOString()}`);
  }
}

/** Two jobs with their options in variables: those of docs/options.md, for example. */
@Module({
  imports: [
    ConfigModule.forRoot({ ignoreEnvFile: true }),
    SingletonJobModule.forRootAsync(singletonJobConfig.asProvider()),
  ],
  providers: [Prices, Reports],
})
export class AppModule {}

async function bootstrap() {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
}

void bootstrap();
