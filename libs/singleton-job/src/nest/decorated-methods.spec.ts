import { expect, it } from '@jest/globals';
import { mixin } from '@nestjs/common';
import { FixedRate } from '../jobs/job.decorators.js';
import { describedBy } from './decorated-methods.js';

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
