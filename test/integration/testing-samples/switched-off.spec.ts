import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PriceApi, Prices } from './prices.js';
import { SINGLETON_JOB_OPTIONS, SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';

// import your own AppModule instead
@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'shop', connection: 'redis://localhost:6379' })],
  providers: [Prices, { provide: PriceApi, useValue: {} }],
})
class AppModule {}

it('runs no job', async () => {
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(SINGLETON_JOB_OPTIONS)
    .useValue({ projectName: 'test', enabled: false })
    .compile();
  await app.init();
  expect(app.get(SingletonJobRegistry).get('price-tick').role).toBe('disabled');
  await app.close();
});
