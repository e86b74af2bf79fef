import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Controller, type MessageEvent, NotFoundException, Param, Sse } from '@nestjs/common';
import { JOB_EVENTS } from 'nestjs-singleton-job';
import { Observable } from 'rxjs';
import { payloadAsJson } from './payload-as-json.js';

/** Streams the events of this replica, renewals included. It subscribes only while a client listens. */
@Controller('events')
export class EventsController {
  /** One event of the library, by its name. */
  @Sse(':event')
  listen(@Param('event') event: string): Observable<MessageEvent> {
    if (!Object.hasOwn(JOB_EVENTS, event)) throw new NotFoundException(`there is no event '${event}'`);
    const channel = `nestjs-singleton-job:${event}`;
    return new Observable((listener) => {
      const forward = (payload: unknown): void => {
        listener.next({ type: event, data: payloadAsJson(payload as object) });
      };
      subscribe(channel, forward);
      return () => {
        unsubscribe(channel, forward);
      };
    });
  }
}
