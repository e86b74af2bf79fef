import { Logger } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { isatty } from 'node:tty';
import { inspect } from 'node:util';
import { AppModule } from './app.module.js';
import { InvalidEnvironmentError } from './config/environment.js';
import { workerConfig } from './config/worker.config.js';
import { EventFeed } from './events/event-feed.js';
import { RunLogger } from './run-logger.js';
import { SingletonJobError } from 'nestjs-singleton-job';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(
    AppModule,
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest has a class for these, and takes any object
    {
      // a mistake in the environment is reported below, without a stack
      abortOnError: false,
      // log lines wait for the configuration of their format
      bufferLogs: true,
      autoFlushLogs: false,
      // an open connection of a scraper must not keep the process alive
      forceCloseConnections: true,
    },
  );
  const { logLevel, logFormat, http } = app.get<ConfigType<typeof workerConfig>>(workerConfig.KEY);
  const json = logFormat === 'json';
  app.useLogger(new RunLogger({ logLevels: [logLevel], json, colors: !json && isatty(1) }));
  app.flushLogs();

  // a browser on this machine reaches the loopback address, and any page can make it send a POST
  app.enableCsrfProtection();
  // SIGTERM and SIGINT close the application: runs finish, locks are released, connections end
  app.enableShutdownHooks();
  try {
    await app.listen(http.port, http.host);
  } catch (error: unknown) {
    await app.close();
    throw error;
  }
  const url = await app.getUrl();
  new Logger('Worker').log(`answers at ${url}: /health/ready, /health/live, /metrics, /jobs, /events`);
  app.get(EventFeed).ready({ url });
}

/** Errors that a person must fix outside this program. They are logged without a stack. */
function mistakeIn(error: unknown): string | undefined {
  if (error instanceof SingletonJobError || error instanceof InvalidEnvironmentError) return error.message;
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === 'listen' ? `${message}: set PORT to another, or to 0 for any that is free` : undefined;
}

bootstrap().catch((error: unknown) => {
  process.stderr.write(`${mistakeIn(error) ?? inspect(error)}\n`);
  process.exitCode = 1;
});
