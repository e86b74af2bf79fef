import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { FakePostgresClient } from '../../testing/specs/fake-postgres-client.js';
import { PostgresLane } from './postgres-lane.js';

describe('a connection that is silent again and again', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('is replaced late after the third time, until there is an answer', async () => {
    const server = { isSilent: true };
    let clients = 0;
    const lane: PostgresLane = new PostgresLane({
      create: () => {
        clients += 1;
        return Promise.resolve(new FakePostgresClient(server));
      },
      onReady: () => void lane.query('heartbeat', '', []).catch(() => undefined),
      toError: () => new LockStoreError('STORE_UNREACHABLE', 'silent'),
      random: () => 0,
    });
    lane.open();
    const clientsAfter = async (ms: number): Promise<number> => {
      await jest.advanceTimersByTimeAsync(ms);
      return clients;
    };
    expect([await clientsAfter(8_000), await clientsAfter(3_000)]).toEqual([3, 4]);
    server.isSilent = false;
    expect(await clientsAfter(10_000)).toBe(5);
    server.isSilent = true;
    void lane.query('heartbeat', '', []).catch(() => undefined);
    expect(await clientsAfter(4_500)).toBe(7);
    await lane.close();
    expect([await clientsAfter(10_000), jest.getTimerCount()]).toEqual([7, 0]);
  });
});
