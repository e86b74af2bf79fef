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
  /** One more connection, for a test that listens. */
  readonly connect: () => Redis;
  readonly mixed: (timing: Timing) => MixedFleet;
}

/** One Redis for all tests of a file, empty for each of them; fleets and connections end with their test. */
export function useMixedFleets(): MixedFleets {
  const server = useRedisServer();
  const fleets: MixedFleet[] = [];
  const clients: Redis[] = [];
  const url = (): string => server().url;
  const connect = (): Redis => {
    const client = new Redis(url());
    clients.push(client);
    return client;
  };

  beforeEach(() => void connect());
  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.end()));
    await clients[0]?.flushall();
    for (const client of clients.splice(0)) client.disconnect();
  });

  return {
    url,
    redis: () => {
      const [client] = clients;
      if (client === undefined) throw new Error('there is a connection only while a test runs');
      return client;
    },
    connect,
    mixed: (timing) => {
      const fleet = new MixedFleet(url(), timing);
      fleets.push(fleet);
      return fleet;
    },
  };
}
