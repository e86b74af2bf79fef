import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SINGLETON_JOB_OPTIONS, SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';
import { FakeTable } from './fakes.js';
import { Prices } from './prices.js';

@Module({
  imports: [SingletonJobModule.forRoot({ projectName: 'myapp', connection: 'redis://127.0.0.1:1' })],
  providers: [
    Prices,
    { provide: 'price feed', useValue: { pull: async () => 101.5 } },
    { provide: 'price table', useClass: FakeTable },
  ],
})
class AppModule {}

it('answers while no job runs', async () => {
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(SINGLETON_JOB_OPTIONS)
    .useValue({ projectName: 'test', enabled: false })
    .compile();
  await app.init();
  expect(app.get(SingletonJobRegistry).get('price-tick').role).toBe('disabled');
  await app.close();
});
