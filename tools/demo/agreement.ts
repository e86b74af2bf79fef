import { setTimeout as delay } from 'node:timers/promises';
import { type JobStatus } from '../../libs/singleton-job/src/index.js';
import { JOBS } from './cast.js';
import { type Fact } from './facts.js';
import { type Theatre } from './show.js';

const ASK_AGAIN_AFTER_MS = 100;

/** A replica by its address, and what it answered: who leads each job. */
interface Witness {
  readonly name: string;
  readonly url: string;
  readonly leaders: ReadonlyMap<string, string>;
}

/**
 * Asks two replicas over HTTP who leads each job until they say the same, which a follower knows from its last bid, and
 * shows what they said. Rejects when the signal fires before they agree.
 */
export async function agreement({ chronicle, tell, signal }: Theatre): Promise<void> {
  const asked = chronicle.facts
    .filter((fact) => fact.event === 'processReady')
    .slice(0, 2)
    .sort(byName);
  for (;;) {
    const witnesses = await Promise.all(asked.map((fact) => ask(fact, signal)));
    if (JOBS.every(({ name }) => isAgreed(witnesses, name))) {
      tell(['', ...witnesses.map(line), ' They agree on who leads.', '']);
      return;
    }
    await delay(ASK_AGAIN_AFTER_MS, undefined, { signal });
  }
}

async function ask(
  { replica: name, url }: Extract<Fact, { event: 'processReady' }>,
  signal: AbortSignal,
): Promise<Witness> {
  const response = await fetch(`${url}/jobs`, { signal });
  const jobs = (await response.json()) as readonly JobStatus[];
  const leaders = jobs.flatMap(({ name: job, leader }): [string, string][] =>
    leader === null ? [] : [[job, nameIn(leader)]],
  );
  return { name, url, leaders: new Map(leaders) };
}

/** `A` of `A-1f2e3d4c`: each process has a random part of its own. */
function nameIn(leader: string): string {
  return leader.replace(/-[^-]*$/, '');
}

function isAgreed(witnesses: readonly Witness[], job: string): boolean {
  const [first, ...others] = witnesses.map(({ leaders }) => leaders.get(job));
  return first !== undefined && others.every((leader) => leader === first);
}

function line({ name, url, leaders }: Witness): string {
  const said = JOBS.map(({ name: job }) => `${job}: ${leaders.get(job) ?? '?'}`);
  return ` ${name} at ${url}/jobs says   ${said.join('   ')}`;
}

function byName(one: Fact, other: Fact): number {
  return one.replica.localeCompare(other.replica);
}
