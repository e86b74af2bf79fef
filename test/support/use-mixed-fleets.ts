import { afterEach, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import { fixedRate } from '../../libs/singleton-job/src/schedule/index.js';
import { type OriginalVersion } from './original-belief.js';
import { MixedFleet, type OurReplica, PROJECT, type Timing } from './original-mixed-fleet.js';
import { useRedisServer } from './redis.js';
import { until } from './until.js';

export const VERSIONS: readonly OriginalVersion[] = ['1.0.0', 'main'];
export const LOCK = `${PROJECT}:tick:lock`;
export const STATE = `{${LOCK}}:state`;
/** What expires while a test waits for it, and not because a core was away for a moment. */
export const QUICK: Timing = { heartbeatIntervalMs: 200, lockExpiryMs: 4_000 };
/** What nobody lives to see expire in a test: whoever takes over was let in before. */
export const PATIENT: Timing = { heartbeatIntervalMs: 200, lockExpiryMs: 60_000 };
export const often = fixedRate(50);

export const leads = ({ observer }: OurReplica): boolean => observer.of('leadershipGained').length > 0;
export const led = (ours: OurReplica): Promise<void> => until('a replica of ours leads', () => leads(ours));

export interface MixedFleets {
  readonly url: () => string;
  readonly redis: () => Redis;
  /** A fleet that ends with its test. */
  readonly mixed: (timing: Timing) => MixedFleet;
}

/** One Redis for all tests of a file, empty for each of them, and the fleets that they start on it. */
export function useMixedFleets(): MixedFleets {
  const server = useRedisServer();
  const fleets: MixedFleet[] = [];
  let client: Redis | undefined;

  beforeEach(() => {
    client = new Redis(server().url);
  });
  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.end()));
    await client?.flushall();
    client?.disconnect();
  });

  return {
    url: () => server().url,
    redis: () => {
      if (client === undefined) throw new Error('there is a client only while a test runs');
      return client;
    },
    mixed: (timing) => {
      const fleet = new MixedFleet(server().url, timing);
      fleets.push(fleet);
      return fleet;
    },
  };
}
