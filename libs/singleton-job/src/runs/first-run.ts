import { KEPT_VERSIONS, type LeaderFields } from '../leadership/record.js';
import { runRecordOf } from './run.js';
import { type TickLoopParts } from './tick-loop.js';

/** What a claim adds to note the version of the job as run. Empty: it has none, or that is noted. */
export function versionNote({ job: { version }, term }: TickLoopParts): Pick<LeaderFields, 'versions'> {
  const { versions = [] } = term.fields;
  if (version === undefined || versions.includes(version)) return {};
  return { versions: [...versions, version].slice(-KEPT_VERSIONS) };
}

/**
 * Starts the first run of a job with the option `firstRun`, or the only one of `@Once`: if no replica has run the job,
 * or with a `version` if none has run that. It is claimed with the version, so it starts at most once.
 */
export async function runFirst(parts: TickLoopParts): Promise<void> {
  const { clock, job, runs, term } = parts;
  const note = versionNote(parts);
  const isDue = job.version === undefined ? term.fields.run === undefined : note.versions !== undefined;
  if ((job.firstRun === undefined && job.schedule.kind !== 'once') || !isDue || runs.isBusy) return;
  const record = runRecordOf(term);
  if (!(await runs.claim(term, { run: record, ...note }))) return;
  runs.start({ term, record, scheduledAt: clock.wallNow(), cause: 'first-run' });
}

/** The only run. Its replica keeps the job after that, as the leader that commands need. */
export async function onceLoop(parts: TickLoopParts): Promise<void> {
  await runFirst(parts);
  while (!parts.sleeper.isOver) await parts.sleeper.sleep(Infinity);
}
