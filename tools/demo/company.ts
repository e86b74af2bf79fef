import { JOBS, REPLICAS, settings } from './cast.js';
import { Chronicle } from './chronicle.js';
import { LogTail } from './log-tail.js';
import { OrderedOutput } from './ordered-output.js';
import { type Paint } from './paint.js';
import { score } from './scoreboard.js';
import { Screen } from './screen.js';
import { perform, type Theatre } from './show.js';
import { Stage } from './stage.js';
import { verdict } from './verdict.js';
import { watch } from './watch.js';
import { type MeetingPlace } from './with-redis.js';

/** The show takes 14 to 21 s, which with the building before it stays below 40 s; on a busy machine it takes longer. */
const SHOW_LIMIT_MS = 90_000;

export interface CompanyOptions {
  /** Whether to go on after the show, until somebody ends it. */
  readonly watch: boolean;
  /** Whether to show what the workers print. */
  readonly verbose: boolean;
  readonly paint: Paint;
  readonly say: (line: string) => void;
}

/** Plays the show on a stage, shows it on the screen, and counts what happened. */
export class Company {
  readonly #chronicle = new Chronicle();
  readonly #screen: Screen;
  readonly #output: OrderedOutput;
  readonly #log: LogTail;

  constructor(private readonly options: CompanyOptions) {
    const { paint, say, verbose } = options;
    this.#screen = new Screen(REPLICAS, JOBS, paint);
    this.#output = new OrderedOutput(say);
    this.#log = new LogTail(verbose);
    this.#chronicle.listen((fact) => {
      this.#print(() => this.#screen.draw(fact), fact.atMs);
    });
  }

  /** Resolves with the exit code. Rejects when the signal cuts the show short; no replica is left in any case. */
  async perform({ redisUrl, project }: MeetingPlace, signal: AbortSignal): Promise<number> {
    this.#print(() => this.#screen.legend());
    let complaints: readonly string[] = [];
    try {
      await using stage = new Stage({
        env: settings(redisUrl, project),
        tell: this.#chronicle.add,
        log: this.#log.add,
      });
      complaints = await this.#play(stage, signal);
      this.#announce('The end: who is left is stopped');
    } catch (error) {
      if (!signal.aborted) this.#print(() => this.#log.lines);
      throw error;
    } finally {
      this.#output.flush();
    }
    return this.#judge(complaints);
  }

  async #play(stage: Stage, signal: AbortSignal): Promise<readonly string[]> {
    const theatre = { stage, chronicle: this.#chronicle, announce: this.#announce };
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort();
    }, SHOW_LIMIT_MS);
    try {
      await perform({ ...theatre, signal: AbortSignal.any([signal, limit.signal]) });
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.signal.aborted) throw error;
      return [`the show did not come to its end within ${String(SHOW_LIMIT_MS / 1_000)} s`];
    } finally {
      clearTimeout(timer);
    }
    if (this.options.watch) await this.#watch({ ...theatre, signal });
    return [];
  }

  async #watch(theatre: Theatre): Promise<void> {
    try {
      await watch(theatre, (line) => {
        this.#print(() => [line]);
      });
    } catch (error) {
      // the end that was waited for
      if (!theatre.signal.aborted) throw error;
    }
  }

  #judge(complaints: readonly string[]): number {
    const { facts } = this.#chronicle;
    const scores = score(facts, JOBS);
    const overlaps = scores.filter(({ overlapping }) => overlapping > 0).map(({ job }) => `${job}: two runs at a time`);
    const crashes = facts
      .filter((fact) => fact.event === 'processEnded')
      .filter(({ code }) => code !== 0 && code !== null)
      .map(({ replica, code }) => `${replica} crashed with exit code ${String(code)}`);
    const faults = [...complaints, ...overlaps, ...crashes];
    for (const line of verdict(scores, faults, this.options.paint)) this.options.say(line);
    return faults.length === 0 ? 0 : 1;
  }

  readonly #announce = (title: string): void => {
    this.#print(() => this.#screen.act(title));
  };

  #print(lines: () => readonly string[], atMs = Date.now()): void {
    this.#output.add({ atMs, lines });
  }
}
