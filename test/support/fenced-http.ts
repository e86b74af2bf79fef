import { type JobRun } from 'nestjs-singleton-job';
import { StaleLeaderError } from './fenced-errors.js';

// The code of docs/fencing.md: a test compares the page with this file, paragraph by paragraph.

export interface Page {
  readonly text: string;
  readonly fencingToken: number;
}

export async function changePage(url: string, run: JobRun, edit: (text: string) => Promise<string>): Promise<void> {
  const { fencingToken, signal } = run;
  for (;;) {
    const read = await fetch(url, { signal });
    const etag = read.headers.get('etag');
    if (!read.ok || etag === null) throw new Error(`${url} gave no version to match`);
    const page = (await read.json()) as Page;
    if (page.fencingToken > fencingToken) throw new StaleLeaderError('the page has a larger token');
    const body = JSON.stringify({ text: await edit(page.text), fencingToken });
    const written = await fetch(url, { method: 'PUT', headers: { 'if-match': etag }, body, signal });
    if (written.ok) return;
    if (written.status !== 412) throw new Error(`${url} answered ${written.status}`);
    // somebody has written since; the next read tells whether it was a later leader
  }
}

export async function charge(url: string, run: JobRun, amount: number): Promise<void> {
  const headers = { 'idempotency-key': `${run.job}/${run.scheduledAt.toISOString()}` }; // the same in every term
  run.assertLeader(); // asks the local clocks only, so right before the request
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ amount }), signal: run.signal });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
}
