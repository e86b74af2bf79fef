import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WebModule } from './app.module.js';
import { settings } from './settings.js';

// streams of progress that are open must not keep the process from ending
const app = await NestFactory.create(WebModule, { forceCloseConnections: true });
app.enableShutdownHooks();
await app.listen(settings.http.port, settings.http.host);
new Logger('Web').log(`answers at ${await app.getUrl()}`);
