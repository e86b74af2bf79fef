import { Controller, type MessageEvent, Sse } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { EventFeed } from './event-feed.js';
import { payloadAsJson } from './payload-as-json.js';

/** Streams the events of this replica, renewals included. */
@Controller('events')
export class EventsController {
  constructor(private readonly feed: EventFeed) {}

  @Sse()
  listen(): Observable<MessageEvent> {
    return this.feed.events.pipe(map(({ event, payload }) => ({ type: event, data: payloadAsJson(payload) })));
  }
}
