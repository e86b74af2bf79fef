import { describe, expect, it } from '@jest/globals';
import { didYouMean } from './suggest.js';

/** The rows of a table: what was given, and the sentence about it. */
function rowsOf(table: string): [given: string, sentence: string][] {
  const rows = table.trim().split('\n');
  return rows.map((row) => {
    const [given = '', sentence = ''] = row.split('→');
    return [given.trim(), sentence.trim()];
  });
}

describe('a word that is none of those that are known', () => {
  const KNOWN = ['lockExpiry', 'timeZone', 'timeout', 'jobs', 'store'];

  it.each(
    rowsOf(`
      lockExpiri   → did you mean 'lockExpiry'?
      lockexpiry   → did you mean 'lockExpiry'?
      lockExpiryMs → did you mean 'lockExpiry'?
      timezone     → did you mean 'timeZone'?
      timeOut      → did you mean 'timeout'?
      job          → did you mean 'jobs'?
      interceptors → see the list
      redis        → see the list
      x            → see the list
                   → see the list
    `),
  )("may be one that is misspelt: '%s'", (given, sentence) => {
    expect(didYouMean(given, KNOWN, 'see the list')).toBe(sentence);
  });
});
