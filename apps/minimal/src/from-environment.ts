import { Injectable, Logger, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { FixedRate, type JobRun, SingletonJobModule } from 'nestjs-singleton-job';
import { singletonJobConfig } from 'nestjs-singleton-job/config';

@Injectable()
export class Prices {
  private readonly logger = new Logger(Prices.name);

  @FixedRate('2s', { name: 'price-tick' })
  tick(run: JobRun) {
    this.logger.log(`updated the prices of ${run.scheduledAt.toISOString()}`);
  }
}

/** The quick start with its options in variables: SINGLETON_JOB_PROJECT_NAME, SINGLETON_JOB_CONNECTION and others. */
@Module({
  imports: [
    ConfigModule.forRoot({ ignoreEnvFile: true }),
    SingletonJobModule.forRootAsync(singletonJobConfig.asProvider()),
  ],
  providers: [Prices],
})
export class AppModule {}

async function bootstrap() {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
}

void bootstrap();
