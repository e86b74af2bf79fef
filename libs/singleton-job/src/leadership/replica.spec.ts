import { MemoryServer, MemoryStore } from '../store/memory.js';
import { ManualClock } from '../testing/manual-clock.js';
import { type Candidate, type Election } from './election.js';
import { Replica } from './replica.js';
import { type Term } from './term.js';

const LIFE_MS = 10_000;

/** A job that only leads. */
class Job implements Candidate {
  readonly kind = 'job';
  readonly lifeMs = LIFE_MS;
  isIdle = true;
  term: Term | undefined;
  drained: string | undefined;
  election: Election | undefined;

  constructor(readonly name: string) {}

  inherit = (left: object) => left;
  lead(term: Term): void {
    this.term = term;
  }
  drain(reason: string): void {
    this.drained = reason;
  }
  trigger() {
    return { outcome: 'started', fields: { run: { startedAt: 1, by: 'a' } } };
  }
}

function setup(names: readonly string[]) {
  const clock = new ManualClock();
  const server = new MemoryServer(clock);
  const story: string[] = [];
  const replicas = names.map((id) => {
    const say = (what: string): void => {
      story.push(`${clock.now()} ${id} ${what}`);
    };
    const replica = new Replica({
      id,
      lifeMs: LIFE_MS,
      heartbeatIntervalMs: 3_000,
      store: new MemoryStore(server),
      clock,
      random: () => 0,
      observer: {
        gained: (term, { because }) => {
          say(`gained ${term.name} ${because}`);
        },
        lost: (term, how) => {
          say(`lost ${term.name} ${how}`);
        },
        released: (term, reason, isConfirmed) => {
          say(`released ${term.name} ${reason} ${isConfirmed}`);
        },
      },
    });
    const compete = (name: string) => {
      const job = new Job(name);
      job.election = replica.electionFor(job);
      job.election.compete();
      return job;
    };
    return { replica, compete };
  });
  return { clock, server, story, replicas };
}

describe('a replica', () => {
  it('leads a free job, and gives it to another when it stops', async () => {
    const { clock, story, replicas } = setup(['a', 'b']);
    for (const { replica, compete } of replicas) {
      compete('job:lock');
      replica.open();
      await clock.advance(10);
    }
    await clock.advance(20_000);
    await replicas[0]?.replica.close();
    await clock.advance(20_000);
    expect(story).toEqual([
      '0 a gained job:lock first',
      '20020 a released job:lock shutdown true',
      '20020 b gained job:lock released',
    ]);
  });
});
