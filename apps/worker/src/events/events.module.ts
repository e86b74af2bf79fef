import { Module } from '@nestjs/common';
import { EventFeed } from './event-feed.js';
import { EventsController } from './events.controller.js';

@Module({ controllers: [EventsController], providers: [EventFeed], exports: [EventFeed] })
export class EventsModule {}
