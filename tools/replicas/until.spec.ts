import { describe, expect, it } from '@jest/globals';
import { until } from './until.js';

describe('until', () => {
  it('resolves once a condition holds', async () => {
    let looks = 0;
    await until('three looks', () => Promise.resolve(++looks === 3));
    expect(looks).toBe(3);
  });

  it('rejects with what it waited for and the details', async () => {
    const waited = until('it never holds', () => false, { withinMs: 5, details: () => 'the log' });
    await expect(waited).rejects.toThrow('not within 5 ms: it never holds\nthe log');
  });
});
