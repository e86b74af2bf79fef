import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { type Redis } from 'ioredis';
import { ReconnectingClient } from './reconnecting-client.js';

/** A client without a network: its connection works or is refused. */
class FakeClient extends EventEmitter {
  readonly isCluster = false;
  readonly options = {};
  status = 'wait';
  sendCommand = (): void => undefined;

  constructor(private readonly isRefused: boolean) {
    super();
  }

  connect(): Promise<void> {
    this.status = this.isRefused ? 'end' : 'ready';
    this.emit(this.status);
    return Promise.resolve();
  }

  disconnect(): void {
    this.status = 'end';
    this.emit('end');
  }
}

describe('A client that is replaced', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('connects later after each failure, and soon again after a connection that worked', async () => {
    const server = { isDown: true };
    const pauses: number[] = [];
    let failedAt = Date.now();
    const connection = new ReconnectingClient({
      create: () => {
        pauses.push(10 * Math.round((Date.now() - failedAt) / 10));
        failedAt = Date.now();
        return Promise.resolve(new FakeClient(server.isDown) as unknown as Redis);
      },
      onReady: () => undefined,
      onLost: () => undefined,
      random: () => 0,
    });
    connection.open();
    await jest.advanceTimersByTimeAsync(1_700);
    expect(pauses).toEqual([0, 250, 350, 490, 500]);

    server.isDown = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(connection.client).toBeDefined();
    server.isDown = true;
    failedAt = Date.now();
    connection.client?.disconnect();
    await jest.advanceTimersByTimeAsync(700);
    expect(pauses.slice(-2)).toEqual([250, 350]);

    await connection.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});
