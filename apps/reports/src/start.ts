import { Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SingletonJobError } from 'nestjs-singleton-job';
import { InvalidSettingsError, type Settings, settings } from './settings.js';

/** Starts a process of this application. It logs where it answers. */
export async function start(module: Type, name: string): Promise<void> {
  try {
    // streams of progress that are open must not keep the process from ending
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest has a class for these, and takes any object
    const app = await NestFactory.create(module, { forceCloseConnections: true, abortOnError: false });
    const { HOST, PORT, STOP_LIMIT_MS } = app.get<Settings>(settings.KEY);
    app.enableShutdownHooks();
    limitStop(STOP_LIMIT_MS);
    await app.listen(PORT, HOST);
    new Logger(name).log(`answers at ${await app.getUrl()}`);
  } catch (error) {
    const isMistake = error instanceof InvalidSettingsError || error instanceof SingletonJobError;
    new Logger(name).fatal(isMistake ? error.message : error);
    process.exit(1);
  }
}

/**
 * Ends a process that does not stop in time: BullMQ waits for Redis when it closes, and a handler may ignore that its
 * worker stops.
 */
export function limitStop(limitMs: number): void {
  const end = (): never => {
    new Logger('Stop').warn(`did not stop within ${String(limitMs)} ms and ends now. Its jobs run again.`);
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => setTimeout(end, limitMs).unref());
}
