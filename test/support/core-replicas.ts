import { notifyAll } from '../../libs/singleton-job/src/base/events/observer.js';
import { Replies } from '../../libs/singleton-job/src/commands/replies.js';
import {
  HeartbeatThreadLink,
  type ThreadEnd,
} from '../../libs/singleton-job/src/heartbeat-thread/heartbeat-thread-link.js';
import { type Candidate } from '../../libs/singleton-job/src/leadership/candidate.js';
import { type Election } from '../../libs/singleton-job/src/leadership/election.js';
import { type Predecessor } from '../../libs/singleton-job/src/leadership/record-view.js';
import {
  type Command,
  jobRecord,
  type JobRecord,
  type LeaderFields,
  type Reply,
} from '../../libs/singleton-job/src/leadership/record.js';
import { Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { type TermHandle } from '../../libs/singleton-job/src/leadership/term.js';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';
import { ProcessClock } from '../../libs/singleton-job/src/testing/replicas/process-clock.js';
import { anewForEachTest } from './anew-for-each-test.js';
import { FaultyStore } from './faulty-store.js';

const TTL_MS = 10_000;

/** A job that only leads, balanced or not. */
export class TestCandidate implements Candidate {
  readonly name: string;
  readonly isBalanced: boolean;
  readonly forgetAfterMs?: number;
  isIdle = true;
  terms: TermHandle[] = [];
  replies: Replies | undefined;
  readonly election: Election;

  constructor(
    job: string,
    readonly replica: Replica,
    private readonly say: (what: string) => unknown,
    kind: 'job' | 'lock' = 'job',
    readonly ttlMs = TTL_MS,
  ) {
    this.name = jobRecord(job);
    this.isBalanced = kind === 'job';
    if (kind === 'lock') this.forgetAfterMs = 24 * 3_600_000;
    this.election = replica.electionFor(this);
    this.election.compete();
  }

  /** The present term, or the last. */
  get term(): TermHandle {
    const term = this.terms.at(-1);
    if (term === undefined) throw new Error('it has not led yet');
    return term;
  }

  /** A run begins, until the returned function is called. */
  run(): () => void {
    this.isIdle = false;
    return () => {
      this.isIdle = true;
      this.election.enqueue();
    };
  }

  inherit = ({ fields }: Predecessor): LeaderFields => fields;

  lead(term: TermHandle): void {
    this.terms.push(term);
    const { storeView } = this.replica.context;
    this.replies = new Replies(term, storeView, (command) => this.#replyTo(command, term.storeNow()));
  }

  reply = (command: Command | undefined): Reply | undefined => this.replies?.next(command);

  #replyTo(command: Command, startedAt: number): Reply {
    const { id, action } = command;
    if (action === 'trigger') {
      const settle = (isShown: boolean) => this.say(`${isShown ? 'ran' : 'cancelled'} ${id}`);
      return { ...command, outcome: 'started', fields: { run: { startedAt, by: id } }, settle };
    }
    this.election.stepDown('stepped-down');
    return { ...command, outcome: 'stepped-down' };
  }

  pause(): Promise<boolean> {
    return this.election.edit({
      isDone: ({ pause }) => pause !== undefined,
      change: (record) => ({ ...record, pause: { at: 1 } }),
    });
  }

  resume(): Promise<boolean> {
    return this.election.edit({
      isDone: ({ pause }) => pause === undefined,
      change: (record) => ({ ...record, pause: undefined }),
    });
  }

  /** Sends a command, and resolves to its outcome. */
  async command(id: string, action: Command['action']): Promise<string | undefined> {
    let outcome: string | undefined;
    await this.election.edit({
      isDone: ({ command }) => {
        outcome = command?.id === id ? command.outcome : undefined;
        return outcome !== undefined;
      },
      change: (record, until) =>
        record.command?.id === id ? undefined : { ...record, command: { id, action, until } },
    });
    return outcome;
  }
}

/** Replicas on one server in memory, with no delay between them. What happens is told in {@link story}. */
export class CoreReplicas {
  clock = new ManualClock();
  server = new FaultyServer(this.clock);
  story: string[] = [];
  #replicas: Replica[] = [];

  begin(): void {
    this.clock = new ManualClock();
    this.server = new FaultyServer(this.clock);
    this.story = [];
    this.#replicas = [];
  }

  async end(): Promise<void> {
    const closed = Promise.all(this.#replicas.map((replica) => replica.close()));
    await this.clock.advance(1_000);
    await closed;
  }

  add(
    id: string,
    {
      heartbeatThread,
      random = 0,
      ttlMs = TTL_MS,
    }: { readonly heartbeatThread?: ThreadEnd; readonly random?: number; readonly ttlMs?: number } = {},
  ) {
    const { clock } = this;
    const say = (what: string): number => this.story.push(`${clock.now()} ${id} ${what}`);
    const store = new FaultyStore(this.server, new ProcessClock(clock));
    const replica = new Replica({
      id,
      ttlMs,
      heartbeatIntervalMs: ttlMs * 0.3,
      store,
      clock,
      random: () => random,
      linkThread: heartbeatThread && ((main) => new HeartbeatThreadLink(heartbeatThread, main)),
      notify: notifyAll([
        {
          leadershipGained: ({ job, because }) => say(`gained ${job}: ${because}`),
          leadershipLost: ({ job, reason }) => say(`lost ${job}: ${reason}`),
          leadershipReleased: ({ job, reason, confirmed, runInFlight }) =>
            say(`released ${job}: ${reason}${runInFlight ? ', during a run' : confirmed ? '' : ', not confirmed'}`),
          warning: ({ job, error }) => say(`failed ${job ?? ''}: ${String(error)}`),
        },
      ]),
    });
    this.#replicas.push(replica);
    store.addListener(replica);
    replica.open();
    const compete = (name: string, kind?: 'job' | 'lock', ttlMs?: number): TestCandidate =>
      new TestCandidate(name, replica, say, kind, ttlMs);
    return { replica, store, compete };
  }

  /** A replica that leads the job. The story begins after that. */
  async leader(options?: Parameters<CoreReplicas['add']>[1]) {
    const a = this.add('a', options);
    const job = a.compete('job');
    await this.clock.advance(10);
    this.story = [];
    return { ...a, job };
  }

  /** It, and one that follows. */
  async leaderAndFollower() {
    const leader = await this.leader();
    const b = this.add('b');
    const follower = { ...b, job: b.compete('job') };
    await this.clock.advance(90);
    return [leader, follower] as const;
  }

  /** What the server has. */
  record(job = 'job'): JobRecord | undefined {
    const stored = this.server.snapshot().records.get(jobRecord(job));
    return stored && (JSON.parse(stored.value) as JobRecord);
  }
}

/** Replicas that begin anew for each test of the block, and must leave no timer behind. */
export function useCoreReplicas(): CoreReplicas {
  return anewForEachTest(new CoreReplicas());
}
