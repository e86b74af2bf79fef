import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { type Redis } from 'ioredis';
import { asLockStoreError } from '../../base/errors/lock-store.error.js';
import { Listeners } from '../listeners.js';
import { Subscription } from './subscription.js';

/** A client without a network: every command is answered at once. */
class FakeClient extends EventEmitter {
  readonly isCluster = false;
  readonly sent: string[] = [];
  status = 'wait';
  sendCommand = (): void => undefined;

  connect(): Promise<void> {
    this.status = 'ready';
    this.emit('ready');
    return Promise.resolve();
  }

  subscribe(): Promise<number> {
    this.sent.push('subscribe');
    return Promise.resolve(1);
  }

  ping(): Promise<string> {
    this.sent.push('ping');
    return Promise.resolve('PONG');
  }

  disconnect(): void {
    this.status = 'end';
    this.emit('end');
  }
}

describe('A subscription', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('pings its connection every 3 s until it is closed', async () => {
    const client = new FakeClient();
    const subscription = new Subscription({
      channel: 'myapp:events',
      create: () => Promise.resolve(client as unknown as Redis),
      listeners: new Listeners(),
      onMessage: () => undefined,
      denied: asLockStoreError,
      random: () => 0,
    });
    subscription.open();
    await jest.advanceTimersByTimeAsync(9_500);
    expect(client.sent).toEqual(['subscribe', 'ping', 'ping', 'ping']);

    await subscription.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});
