import { describe, expect, it } from '@jest/globals';
import { type JobRecord, type RunRecord } from '../leadership/record.js';
import { TriggeredRun } from './triggered-run.js';

const RUN: RunRecord = { startedAt: 5_000, by: 'a' };
const ENDED: RunRecord = { ...RUN, endedAt: 6_000, outcome: 'succeeded' };
const OF_ANOTHER: RunRecord = { startedAt: 4_000, by: 'a', endedAt: 4_000, outcome: 'interrupted' };

describe('The wait for a triggered run', () => {
  it.each<[string, boolean, JobRecord]>([
    ['goes on while the run does', false, { fencingToken: 7, run: RUN }],
    ['ends with the run', true, { fencingToken: 7, run: ENDED }],
    ['ends when a later run has begun', true, { fencingToken: 7, run: { ...RUN, startedAt: 9_000 } }],
    ['goes on while the same leader has not written the run', false, { fencingToken: 7, run: OF_ANOTHER }],
    ['goes on while the next leader has not corrected it', false, { fencingToken: 8, run: RUN }],
    ['ends when the next leader has dated the run back', true, { fencingToken: 8, run: OF_ANOTHER }],
  ])('%s', (_, isDone, record) => {
    expect(new TriggeredRun('b#1', 5_000, 7).isDone(record)).toBe(isDone);
  });
});
