import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { SINGLETON_JOB_OPTIONS } from 'nestjs-singleton-job';
import { AppModule } from './app.module.js';
import { Ticker } from './ticker.js';

describe("an application's own test", () => {
  it('sees its job run', async () => {
    const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await app.init();
    const run = await app.get(Ticker).firstRun;
    expect(run.job).toBe('tick');
    await app.close();
  });

  it('switches its jobs off by one token', async () => {
    const app = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(SINGLETON_JOB_OPTIONS)
      .useValue({ projectName: 'test', enabled: false })
      .compile();
    await app.init();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(app.get(Ticker).runs).toBe(0);
    await app.close();
  });
});
