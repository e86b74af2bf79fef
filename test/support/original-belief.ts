import { type Clock } from '../../libs/singleton-job/src/time/index.js';
import { type OriginalLock, type OriginalServer } from './original-server.js';

export type OriginalVersion = '1.0.0' | 'main';

/** What a node of the original believes of its leadership, and how a heartbeat changes that. */
export interface OriginalBelief {
  readonly isLeader: boolean;
  /** One heartbeat. Rejects when the client does; the belief is as it was then. */
  beat(): Promise<void>;
  /** The node stops. */
  forget(): void;
  /** Whether a failed heartbeat is followed by back-off rather than by the next heartbeat. */
  readonly backsOff: boolean;
}

export interface BeliefParts {
  readonly server: OriginalServer;
  readonly lock: OriginalLock;
  readonly clock: Clock;
}

export function beliefOf(version: OriginalVersion, parts: BeliefParts): OriginalBelief {
  return version === '1.0.0' ? bareFlag(parts) : flagWithLease(parts);
}

/** 1.0.0: a flag that stays as it is for as long as no answer comes. */
function bareFlag({ server, lock }: BeliefParts): OriginalBelief {
  let isLeader = false;
  return {
    get isLeader() {
      return isLeader;
    },
    backsOff: true,
    async beat() {
      if (await server.setIfFree(lock)) isLeader = true;
      else if (isLeader) isLeader = await server.renewIfMine(lock);
    },
    forget() {
      isLeader = false;
    },
  };
}

/** main: the flag, for the life of a lock after the last good call was begun. It has no safety margin. */
function flagWithLease({ server, lock, clock }: BeliefParts): OriginalBelief {
  let flag = false;
  let goodFrom = -Infinity;
  const isLeader = (): boolean => flag && clock.now() - goodFrom < lock.expiryMs;
  return {
    get isLeader() {
      return isLeader();
    },
    get backsOff() {
      return !isLeader();
    },
    async beat() {
      const begunAt = clock.now();
      flag = await server.acquireOrRenew(lock);
      if (flag) goodFrom = begunAt;
    },
    forget() {
      flag = false;
    },
  };
}
