import { expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { FakeApi } from './fakes.js';
import { PriceApi, Prices } from './prices.js';
import { SingletonJobModule } from 'nestjs-singleton-job';

it('saves a price every two seconds', async () => {
  jest.useFakeTimers();
  const api = new FakeApi();
  const app = await Test.createTestingModule({
    imports: [SingletonJobModule.forRoot({ projectName: 'test', store: 'memory' })],
    providers: [Prices, { provide: PriceApi, useValue: api }],
  }).compile();
  await app.init();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(api.saved).toHaveLength(5);
  await app.close();
  jest.useRealTimers();
});
