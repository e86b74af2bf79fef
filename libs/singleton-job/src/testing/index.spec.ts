import { expect, it } from '@jest/globals';
import * as testing from './index.js';

it('the testing kit exports these names', () => {
  expect(Object.keys(testing).sort()).toEqual([
    'FakeRun',
    'InMemoryLockStore',
    'InMemoryReplicas',
    'InMemoryServer',
    'ManualClock',
    'RecordingObserver',
    'describeLockStore',
    'settle',
  ]);
});
