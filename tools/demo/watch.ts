import { setTimeout as delay } from 'node:timers/promises';
import { REPLICAS, type ReplicaName } from './cast.js';
import { gone, type Theatre } from './show.js';

/** Long enough to see a hand-over before the replica is back. */
const RESTART_AFTER_MS = 4_000;

/**
 * Leaves the replicas to whoever wants to kill them by hand, and starts again who has ended, as an orchestrator does: a
 * replica that is back follows. Ends, by rejecting, when the signal fires.
 */
export async function watch(theatre: Theatre, say: (line: string) => void): Promise<never> {
  theatre.announce('4  Your turn: Ctrl-C ends the demo');
  await Promise.all(REPLICAS.map((name) => keepAlive(theatre, name, say)));
  throw new Error('replicas are kept alive until the signal fires');
}

async function keepAlive(theatre: Theatre, name: ReplicaName, say: (line: string) => void): Promise<void> {
  const { stage, signal } = theatre;
  while (!signal.aborted) {
    const present = stage.find(name);
    const replica = present?.isLive === true ? present : stage.start(name);
    say(` ${name}   stop it: kill ${String(replica.pid)}   kill it: kill -9 ${String(replica.pid)}`);
    await gone(theatre, replica);
    await delay(RESTART_AFTER_MS, undefined, { signal });
  }
}
