// retries.ts
import { type JobRun } from 'nestjs-singleton-job';

/** Each attempt has 5 s. Waits for 0.4, 0.8, 1.6 s in between, unless the run must end. */
export async function withRetries<T>(run: JobRun, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt(AbortSignal.any([run.signal, AbortSignal.timeout(5_000)]));
    } catch (error) {
      if (tried === 4 || run.signal.aborted) throw error;
      await run.sleep(200 * 2 ** tried);
    }
  }
}
