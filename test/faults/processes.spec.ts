import { describe, expect, it } from '@jest/globals';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { LASTING, Workers } from '../../tools/replicas/workers.js';
import { KINDS, startPlace } from './support/place.js';

/** For which a stop waits for a server that does not answer. */
const RELEASE_MS = 2_000;

describe.each(KINDS)('processes on a %s', (kind) => {
  it.concurrent.each(['pause', 'kill'] as const)(
    'stop within 2 s of its %s, and exit by themselves, while leases are valid',
    async (fail) => {
      await using place = await startPlace(kind);
      // far more than 2 s, and their leases outlive the test
      const variables = { ...LASTING, SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' };
      await using workers = await Workers.start(place.urlOf(), variables);
      await place.server[fail]();
      const stoppedAtMs = Date.now();
      expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
      expect(Date.now() - stoppedAtMs).toBeLessThan(RELEASE_MS + SLACK_MS);
    },
  );
});
