import { JobRun } from 'nestjs-singleton-job';

/** A run for tests that only pass it on. */
export function someRun(): JobRun {
  const at = new Date(0);
  const info = { job: 'tick', kind: 'fixed-rate', cause: 'schedule', scheduledAt: at, startedAt: at } as const;
  return new JobRun({ ...info, fencingToken: 1 }, new AbortController().signal, () => true);
}
