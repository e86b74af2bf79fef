import { describe, expect, it } from '@jest/globals';
import { EventFeed } from './event-feed.js';
import { EventsController } from './events.controller.js';

describe('the stream of events', () => {
  it('sends payloads with the name of the event to those who listen', () => {
    const feed = new EventFeed({ node: 'a' } as ConstructorParameters<typeof EventFeed>[0]);
    const heard: unknown[] = [];
    const listener = new EventsController(feed).listen().subscribe((message) => heard.push(message));
    const happens = () => {
      feed.onEvent({ event: 'storeRecovered', payload: { outageMs: 5 } });
    };
    happens();
    listener.unsubscribe();
    happens();
    expect(heard).toEqual([{ type: 'storeRecovered', data: { outageMs: 5 } }]);
  });
});
