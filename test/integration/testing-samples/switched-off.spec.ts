import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { SINGLETON_JOB_OPTIONS, SingletonJobRegistry } from 'nestjs-singleton-job';
import { AppModule } from './app.module.js';

it('runs no job', async () => {
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(SINGLETON_JOB_OPTIONS)
    .useValue({ projectName: 'test', enabled: false })
    .compile();
  await app.init();
  expect(app.get(SingletonJobRegistry).get('price-tick').role).toBe('disabled');
  await app.close();
});
