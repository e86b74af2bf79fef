import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { settings } from './settings.js';

/** Ends a process that does not stop in time: BullMQ waits for Redis when it closes, and a handler may ignore that its worker stops. */
@Injectable()
export class StopLimit implements OnModuleDestroy {
  onModuleDestroy(): void {
    const end = (): never => {
      new Logger(StopLimit.name).warn(
        `did not stop within ${String(settings.stopLimit)} ms and ends now. Its jobs run again.`,
      );
      process.exit(1);
    };
    setTimeout(end, settings.stopLimit).unref();
  }
}
