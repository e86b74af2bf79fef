import { type JobOnStage } from './cast.js';
import { type Paint, type Style } from './paint.js';

type State = 'absent' | 'follows' | 'leads' | 'runs';

const SIGNS: Readonly<Record<State, string>> = { absent: ' ', follows: '·', leads: '│', runs: '┃' };

/** What one line shows in the cell of a job instead of its state. */
export interface Mark {
  readonly job: string;
  readonly sign: string;
}

const HUES: readonly Style[] = ['cyan', 'yellow', 'magenta'];

/** One lane per replica, and in it one column per job: whoever leads a job has a line in its column. */
export class Lanes {
  readonly #states = new Map<string, State>();

  constructor(
    private readonly replicas: readonly string[],
    private readonly jobs: readonly JobOnStage[],
    private readonly paint: Paint,
  ) {}

  set(replica: string, job: string, state: State): void {
    this.#states.set(`${replica} ${job}`, state);
  }

  /** It follows wherever it does not lead already: a replica may lead before it says that it is ready. */
  appear(replica: string): void {
    for (const { name } of this.jobs) {
      if (this.#stateOf(replica, name) === 'absent') this.set(replica, name, 'follows');
    }
  }

  vanish(replica: string): void {
    for (const { name } of this.jobs) this.set(replica, name, 'absent');
  }

  ledBy(replica: string): string[] {
    return this.jobs.map(({ name }) => name).filter((job) => ['leads', 'runs'].includes(this.#stateOf(replica, job)));
  }

  /** The lanes as they are, with `marks` in the lane of `replica`. */
  draw(replica: string, marks: readonly Mark[]): string {
    const lanes = this.replicas.map((lane) =>
      this.jobs.map(({ name }) => {
        const mark = lane === replica ? marks.find(({ job }) => job === name) : undefined;
        return this.#cell(lane, name, mark?.sign);
      }),
    );
    return lanes.map((cells) => cells.join(' ')).join('    ');
  }

  /** The two lines above the lanes. */
  head(): string[] {
    const width = this.jobs.length * 2 - 1;
    const names = this.replicas.map((replica) => {
      const left = Math.floor((width - replica.length) / 2);
      return this.paint('bold', `${' '.repeat(left)}${replica}`.padEnd(width));
    });
    const letters = this.jobs.map(({ name, letter }) => this.hued(name, letter)).join(' ');
    return [names.join('    ').trimEnd(), this.replicas.map(() => letters).join('    ')];
  }

  /** A text in the colour of a job. */
  hued(job: string, text: string): string {
    const index = this.jobs.findIndex(({ name }) => name === job);
    const hue = HUES[index % HUES.length];
    return hue === undefined ? text : this.paint(hue, text);
  }

  #cell(replica: string, job: string, sign: string | undefined): string {
    if (sign === '✖') return this.paint('red', sign);
    const state = this.#stateOf(replica, job);
    if (sign === undefined && state === 'absent') return SIGNS.absent;
    if (sign === undefined && state === 'follows') return this.paint('dim', SIGNS.follows);
    return this.hued(job, sign ?? SIGNS[state]);
  }

  #stateOf(replica: string, job: string): State {
    return this.#states.get(`${replica} ${job}`) ?? 'absent';
  }
}
