import { describe, expect, it } from '@jest/globals';
import { mixin } from '@nestjs/common';
import { FixedRate } from '../jobs/job.decorators.js';
import { whyNotLasting } from './class-name.js';
import { describedBy } from './decorated-methods.js';

const AT_RUN_TIME = 'the class got its name at run time, as from mixin() of @nestjs/common';
const MINIFIED = (name: string) => `the class name '${name}' looks like that of a minifier`;
const BUNDLED = (name: string) => `the class name '${name}' looks like one that a bundler has changed`;

describe('a class name is', () => {
  it.each<[rule: string, name: string, declared: string | undefined, source: string, why: string | undefined]>([
    ['lasting if the class had it when its job was decorated', 'Prices', 'Prices', 'class {}', undefined],
    [
      'lasting if a subclass without decorators shows it',
      'Base64Prices',
      undefined,
      'class Base64Prices {}',
      undefined,
    ],
    ['lasting if it is short', 'Job', 'Job', 'class Job {\n}', undefined],
    ['not lasting if it is from a minifier that ran out of two letters', 'aBc', 'aBc', 'class{}', MINIFIED('aBc')],
    ['not lasting if a bundler has added a number', 'Prices2', 'Prices2', 'class Prices2 {}', BUNDLED('Prices2')],
    ['not lasting if it begins with that of a bundler', '_Prices', '_Prices', 'class _Prices {}', BUNDLED('_Prices')],
    ['not lasting if it begins with its file', 'prices_Prices', 'prices_Prices', 'class{}', BUNDLED('prices_Prices')],
    ['lasting if a variable names the subclass', 'Prices', undefined, 'class {}', undefined],
    ['not lasting if it changed later', 'Prices-1f3a', 'Prices', 'class Prices {}', AT_RUN_TIME],
    ['not lasting if it came later', 'Prices', '', 'class {}', AT_RUN_TIME],
    ['not lasting if a subclass got another one', 'Prices_1f3a', undefined, 'class {}', AT_RUN_TIME],
    ['not lasting if it is from a minifier', 'tx', 'tx', '', MINIFIED('tx')],
    ['not lasting if it is empty', '', undefined, '', 'the class has no name'],
  ])('%s', (_rule, name, declared, source, why) => {
    expect(whyNotLasting(name, declared, source)).toBe(why);
  });
});

it('the name that a class had when its job was decorated is noted, also if a bundler has kept it', () => {
  class a {
    static {
      Object.defineProperty(this, 'name', { value: 'Quotes', configurable: true });
    }

    @FixedRate('1s')
    tick(): void {}
  }

  expect([namesIn(a), namesIn(mixin(a))]).toEqual([['Quotes.tick'], [undefined]]);
});

function namesIn({ prototype }: { readonly prototype: object }): (string | undefined)[] {
  const provider = { prototype, instance: {}, scope: 'singleton', module: 'AppModule' } as const;
  return describedBy(provider, []).map(({ name }) => name);
}
