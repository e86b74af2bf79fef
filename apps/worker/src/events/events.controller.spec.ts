import { channel } from 'node:diagnostics_channel';
import { NotFoundException } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { EventsController } from './events.controller.js';

const renewals = channel('nestjs-singleton-job:leaseRenewed');

describe('the stream of an event', () => {
  it('is subscribed only while a client listens', () => {
    const stream = new EventsController().listen('leaseRenewed');
    expect(renewals.hasSubscribers).toBe(false);
    const first = stream.subscribe();
    const second = stream.subscribe();
    first.unsubscribe();
    expect(renewals.hasSubscribers).toBe(true);
    second.unsubscribe();
    expect(renewals.hasSubscribers).toBe(false);
  });

  it('sends payloads with the name of the event', () => {
    const heard: unknown[] = [];
    const listener = new EventsController().listen('leaseRenewed').subscribe((message) => heard.push(message));
    renewals.publish({ job: 'beat' });
    listener.unsubscribe();
    renewals.publish({ job: 'beat' });
    expect(heard).toEqual([{ type: 'leaseRenewed', data: { job: 'beat' } }]);
  });

  it.each(['nonsense', 'toString'])('does not exist for an unknown event: %s', (event) => {
    expect(() => new EventsController().listen(event)).toThrow(NotFoundException);
  });
});
