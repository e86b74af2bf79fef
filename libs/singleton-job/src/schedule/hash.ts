import { createHash } from 'node:crypto';

/** An unsigned number of 32 bits. Must never change: replicas of different versions must get the same jitter. */
export function hashOf(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE();
}
