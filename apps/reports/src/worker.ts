import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WorkerModule } from './app.module.js';
import { settings } from './settings.js';

// SIGTERM gives jobs back at the end of their page
const app = await NestFactory.create(WorkerModule, { forceCloseConnections: true });
app.enableShutdownHooks();
await app.listen(settings.http.port, settings.http.host);
new Logger('Worker').log(`answers at ${await app.getUrl()}`);
