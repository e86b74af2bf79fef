import { type JobOnStage, LOCK_EXPIRY } from './cast.js';
import { dispatch, type Fact, type Handlers } from './facts.js';
import { Lanes, type Mark } from './lanes.js';
import { type Paint, type Style } from './paint.js';
import { clockTime, DROPS, inWords, MISSES } from './words.js';

/** A run that takes longer has its end shown as well. */
const NOTABLE_MS = 300;

/** Turns facts into lines: the time, the lanes, and a few words. */
export class Screen {
  readonly #lanes: Lanes;
  #lines: string[] = [];

  constructor(
    replicas: readonly string[],
    private readonly jobs: readonly JobOnStage[],
    private readonly paint: Paint,
  ) {
    this.#lanes = new Lanes(replicas, jobs, paint);
  }

  /** The lines for one fact; none for a fact that tells a stranger nothing. Facts come in the order of their times. */
  draw(fact: Fact): string[] {
    this.#lines = [];
    dispatch(fact, this.#handlers);
    return this.#lines;
  }

  /** The title of a part of the demo, and the heads of the lanes that follow. */
  act(title: string): string[] {
    const rule = '─'.repeat(Math.max(0, 78 - title.length));
    const heads = this.#lanes.head().map((head) => ` ${' '.repeat(12)}   ${head}`);
    return ['', `${this.paint('bold', ` ${title}`)} ${this.paint('dim', rule)}`, ...heads];
  }

  legend(): string[] {
    const signs = [
      '◆ takes the lead   │ leads   ● run starts   ┃ run goes on   ✓ long run ends',
      '· follows          ◇ gives the lead back    ○ tick dropped   ✖ dies',
    ];
    const jobs = this.jobs.map(
      ({ name, letter, rhythm }) => ` ${this.#lanes.hued(name, `${letter} ${name.padEnd(12)}`)}  ${rhythm}`,
    );
    const expiry = ` lockExpiry is '${LOCK_EXPIRY}': the jobs of a killed leader go on within a second.`;
    return ['', ...jobs, '', expiry, '', ...signs.map((line) => ` ${line}`)];
  }

  readonly #handlers: Handlers = {
    processReady: (fact) => {
      this.#lanes.appear(fact.replica);
      this.#aboutProcess(fact, { text: `is there, pid ${String(fact.pid)}` });
    },
    processStopping: (fact) => {
      this.#aboutProcess(fact, { text: 'is asked to stop (SIGTERM)', style: 'yellow' });
    },
    processKilled: (fact) => {
      this.#aboutProcess(fact, { text: 'is killed (SIGKILL)', style: 'red' });
    },
    processEnded: (fact) => {
      const marks = this.#lanes.ledBy(fact.replica).map((job) => ({ job, sign: '✖' }));
      this.#lanes.vanish(fact.replica);
      this.#aboutProcess(fact, { text: 'is gone', marks });
    },
    storeUnreachable: (fact) => {
      this.#aboutProcess(fact, { text: 'gets no answer from Redis', style: 'red' });
    },
    storeRecovered: (fact) => {
      this.#aboutProcess(fact, { text: 'hears Redis again' });
    },
    leadershipGained: (fact) => {
      const { job, fencingToken } = fact.payload;
      this.#lanes.set(fact.replica, job, 'leads');
      this.#aboutJob(fact, { sign: '◆', text: `${fact.replica} leads, token ${String(fencingToken)}`, style: 'bold' });
    },
    leadershipReleased: (fact) => {
      this.#lanes.set(fact.replica, fact.payload.job, 'follows');
      const end = fact.payload.confirmed ? '' : ', not confirmed: it expires';
      this.#aboutJob(fact, { sign: '◇', text: `${fact.replica} gives the lead back${end}`, style: 'bold' });
    },
    leadershipLost: (fact) => {
      this.#lanes.set(fact.replica, fact.payload.job, 'follows');
      this.#aboutJob(fact, { sign: '✖', text: `${fact.replica} lost the lead: ${fact.payload.reason}`, style: 'red' });
    },
    runStarted: (fact) => {
      this.#lanes.set(fact.replica, fact.payload.job, 'runs');
      const { cause, scheduledAt } = fact.payload;
      const late = cause === 'misfire' ? `, late for ${clockTime(Date.parse(scheduledAt))}` : '';
      this.#aboutJob(fact, { sign: '●', text: `runs on ${fact.replica}${late}` });
    },
    runSucceeded: (fact) => {
      this.#runEnded(fact);
      const { durationMs } = fact.payload;
      if (durationMs < NOTABLE_MS) return;
      this.#aboutJob(fact, { sign: '✓', text: `done on ${fact.replica} after ${inWords(durationMs)}` });
    },
    runFailed: (fact) => {
      this.#runEnded(fact);
      this.#aboutJob(fact, { sign: '✖', text: `failed on ${fact.replica}`, style: 'red' });
    },
    runCancelled: (fact) => {
      this.#runEnded(fact);
      this.#aboutJob(fact, { sign: '✖', text: `aborted on ${fact.replica}: ${fact.payload.code}`, style: 'red' });
    },
    tickDropped: (fact) => {
      this.#aboutJob(fact, { sign: '○', text: DROPS[fact.payload.reason] });
    },
    occurrencesMissed: (fact) => {
      const { count, reason } = fact.payload;
      this.#aboutJob(fact, { sign: '!', text: `${String(count)} ${MISSES[reason]}`, style: 'red' });
    },
  };

  #runEnded({
    replica,
    payload: { job },
  }: Extract<Fact, { event: 'runSucceeded' | 'runFailed' | 'runCancelled' }>): void {
    // a run that outlived its term ends among the followers
    if (this.#lanes.ledBy(replica).includes(job)) this.#lanes.set(replica, job, 'leads');
  }

  #aboutJob(
    fact: Extract<Fact, { payload: { readonly job: string } }>,
    { sign, text, style = 'dim' }: { sign: string; text: string; style?: Style },
  ): void {
    const { job } = fact.payload;
    const words = `${this.#lanes.hued(job, job.padEnd(12))}  ${this.paint(style, text)}`;
    this.#row(fact, [{ job, sign }], words);
  }

  #aboutProcess(
    fact: Fact,
    { text, style = 'bold', marks = [] }: { text: string; style?: Style; marks?: readonly Mark[] },
  ): void {
    this.#row(fact, marks, this.paint(style, `${fact.replica} ${text}`));
  }

  #row({ atMs, replica }: Fact, marks: readonly Mark[], words: string): void {
    this.#lines.push(` ${this.paint('dim', clockTime(atMs))}   ${this.#lanes.draw(replica, marks)}   ${words}`);
  }
}
