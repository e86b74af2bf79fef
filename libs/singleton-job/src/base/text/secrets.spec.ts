import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { CONNECTION_TEXTS, TEXTS_OF_ERRORS, wordsIn } from '../../../../../test/support/secret-texts.js';
import { describeConnection } from './describe-value.js';
import { removeSecrets, withoutSecrets } from './secrets.js';

describe('A text that was given as a connection', () => {
  it.each([
    ['', "''"],
    ['localhost', "'localhost'"],
    ['cache:6379', "'cache:6379'"],
    ['redis://cache', "'redis://cache'"],
    ['rediss://app:secret@10.0.0.5:6380/3?db=1', "'rediss://…@10.0.0.5:6380/…'"],
    ['redis://[::1]:6379', "'redis://[::1]:6379'"],
    ['redis://app:s3cretPw', "'redis://…'"],
    ['redis://app:12/3@cache', "'redis://…'"],
    ['redis://cache?password=a@b', "'redis://…'"],
    ['postgresql://app:secret@/shop?host=/cloudsql/one', "'postgresql://…@/…'"],
    ['c1.redis.cache.windows.net:6380,password=S3cr3t,ssl=True', "'c1.redis.cache.windows.net:6380,…'"],
    ['host=db user=app password=hunter2', 'a text of 33 characters'],
    ['hunter2', 'a text of 7 characters'],
    ['sqlite:./jobs#1.db', "'sqlite:./jobs#1.db'"],
    ['sqlite:///var/lib/jobs.db?key=secret', "'sqlite:///var/lib/jobs.db…'"],
  ])('is shown as far as it has no secret: %j', (given, shown) => {
    expect(describeConnection(given)).toBe(shown);
  });

  it('is shown without its password, however that is written', () => {
    fc.assert(
      fc.property(CONNECTION_TEXTS, ({ given, words }) => {
        expect(wordsIn(describeConnection(given), words)).toEqual([]);
      }),
    );
  });
});

describe('What a client has said', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:6379'],
    ['WRONGPASS invalid username-password pair or user is disabled.'],
    ['duplicate key value violates unique constraint "records_pkey" Key (project, name)=(shop, a) already exists'],
    ['at connect (file:///app/node_modules/@acme/client/index.js:3:5)'],
  ])('stays as it is without a secret: %s', (said) => {
    expect(withoutSecrets(said)).toBe(said);
  });

  it('has no password, nor has any error that it wraps, and stays an error', () => {
    fc.assert(
      fc.property(TEXTS_OF_ERRORS, TEXTS_OF_ERRORS, (one, other) => {
        const command = { name: 'auth', args: [one.given] };
        const innermost = Object.assign(new Error(`cannot read ${other.given}: refused`), { input: other.given });
        const wrapped = Object.assign(new AggregateError([innermost], 'all failed'), { lastNodeError: innermost });
        const error = Object.assign(new Error(`failed for ${one.given}`, { cause: wrapped }), { command });
        removeSecrets(error);
        expect(wordsIn(inspect(error, { depth: 10 }), [...one.words, ...other.words])).toEqual([]);
        expect(error.message).toMatch(/^failed for /);
      }),
    );
  });
});
