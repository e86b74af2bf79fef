import { type Warning } from './listeners.js';

/** More are published as `*`. A notification of PostgreSQL has less than 8,000 bytes. */
const MAX_BYTES = 7_000;

/** As a message has it: a name in each line. */
export function hintText(names: readonly string[] | '*'): string {
  const text = names === '*' ? names : names.join('\n');
  return Buffer.byteLength(text) > MAX_BYTES ? '*' : text;
}

/** What a message says. One that another program sent is the name of no record. */
export function namesIn(text: string): readonly string[] | '*' {
  return text === '*' ? text : text.split('\n');
}

/** Without hints everything works that is in the store. */
export function hintsMissing(store: string, why: string): Warning {
  const message =
    `gets no messages of other replicas, or sends none (${why}). Jobs run and locks hold all the same. ` +
    `Replicas look at ${store} once a second instead, so a hand-over takes so much longer`;
  return { code: 'HINTS_NOT_DELIVERED', message };
}
