import { describe, it } from '@jest/globals';
import * as data from '../../tools/faults/faults/data-faults.js';
import * as network from '../../tools/faults/faults/network-faults.js';
import * as outages from '../../tools/faults/faults/outage-faults.js';
import * as redis from '../../tools/faults/faults/redis-faults.js';
import { type Fault } from '../../tools/faults/fault.js';
import { expectKept, useStories } from './support/use-stories.js';

const faults = [network, outages, data, redis].flatMap((module) => Object.values<Fault>(module));
const stories = useStories(faults, { fleets: 4 });

describe('a leader that is cut off from Redis for longer than its lease', () => {
  it.each([
    ['by a half-open connection', network.HALF_OPEN],
    ['by requests that are lost', network.REQUESTS_LOST],
    ['by answers that are lost', network.ANSWERS_LOST],
    ['by connections that are refused', network.REFUSED],
    ['by answers that come too late', network.TOO_SLOW],
  ])('%s, starts nothing more, and another leads in time', (_, fault) => {
    expectKept(stories.of(fault));
  });
});

describe('a leader', () => {
  it.each([
    ['whose answers are slow, but not too slow', network.SLOW],
    ['whose connections are reset', network.RESET],
  ])('%s, goes on', (_, fault) => {
    expectKept(stories.of(fault));
  });
});

describe('replicas that are all cut off from Redis', () => {
  it.each([
    ['by half-open connections, whose last commands arrive late', network.ALL_HALF_OPEN],
    ['by answers that are lost', network.ALL_ANSWERS_LOST],
  ])('%s, go on soon after they reach it again', (_, fault) => {
    expectKept(stories.of(fault));
  });
});

describe('after a Redis that', () => {
  it.each([
    ['hung for longer than a lease', outages.HUNG],
    ['was down for longer than a lease', outages.RESTARTED],
    ['answered nobody for longer than a lease (CLIENT PAUSE)', outages.PAUSED],
  ])('%s, the jobs go on as soon as it is back', (_, fault) => {
    expectKept(stories.of(fault));
  });

  it.each([
    ['came back empty after a time', outages.RESTARTED_EMPTY],
    ['came back empty at once', data.CRASHED_EMPTY],
    ['was emptied (FLUSHALL)', data.FLUSHED],
  ])('%s, nothing overlaps, and the jobs go on after a lock expiry', (_, fault) => {
    expectKept(stories.of(fault));
  });

  it.each([
    ['forgot the scripts', redis.SCRIPTS_FLUSHED],
    ['killed the connections', redis.CLIENTS_KILLED],
    ['was replaced by a replica without the last writes', redis.PROMOTED],
  ])('%s, the jobs go on', (_, fault) => {
    expectKept(stories.of(fault));
  });

  it('lost one lock, two leaders overlap until the old one has heard of it at most, and each occurrence is started once or reported', () => {
    expectKept(stories.of(data.DELETED));
  });
});
