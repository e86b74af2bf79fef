import { describe, expect, it } from '@jest/globals';
import { didYouMean, suggest } from './suggest.js';

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
    expect(suggest(word, OPTIONS)).toBe(suggestion);
  });

  it.each(['interceptors', 'redis', 'x', ''])('is not made for %j, which resembles no candidate', (word) => {
    expect(suggest(word, OPTIONS)).toBeUndefined();
    expect(didYouMean(word, OPTIONS, 'see the README')).toBe('see the README');
  });
});
