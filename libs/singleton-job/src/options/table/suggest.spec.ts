import { describe, expect, it } from '@jest/globals';
import { didYouMean } from './suggest.js';

const OPTIONS = ['lockExpiry', 'timeZone', 'timeout', 'jobs', 'store'];

describe('a suggestion', () => {
  it.each([
    ['lockExpiri', 'lockExpiry'],
    ['lockexpiry', 'lockExpiry'],
    ['lockExpiryMs', 'lockExpiry'],
    ['timezone', 'timeZone'],
    ['timeOut', 'timeout'],
    ['job', 'jobs'],
  ])('for %s is %s', (word, suggestion) => {
    expect(didYouMean(word, OPTIONS, '')).toBe(`did you mean '${suggestion}'?`);
  });

  it.each(['interceptors', 'redis', 'x', ''])('is not made for %j, which resembles no candidate', (word) => {
    expect(didYouMean(word, OPTIONS, 'see the README')).toBe('see the README');
  });
});
