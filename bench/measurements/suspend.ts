import { setTimeout as delay } from 'node:timers/promises';
import { CommandLog } from '../command-log.js';
import { mixedJobs, nowMs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp, spread } from '../measurement.js';

/** Stops the process that leads the probe job in the middle of a run, and continues it after many lives of a lock. */
export const suspend: Measurement = async (options) => {
  const { seconds = 30, jobs = 5, replicas = 3 } = options;
  const expiryMs = expiryMsOf(options);
  await using stage = await setUp(options, mixedJobs(jobs));
  const { fleet, server } = stage;
  using log = await CommandLog.open(server.port);
  await fleet.start(replicas);
  await fleet.untilAllLed();
  await delay(3_000);

  const leader = await fleet.leaderInMidRun();
  const [node = ''] = leader.settings.nodes;
  leader.suspend();
  const stoppedAtMs = nowMs();
  await delay(seconds * 1_000);
  const wokenAtMs = nowMs();
  leader.resume();
  fleet.noteFreeze(leader, stoppedAtMs, wokenAtMs);
  await delay(2 * expiryMs + 5_000);

  const sinceWoken = fleet.events.filter((event) => event.node === node && event.atMs >= wokenAtMs);
  const sinceWakingMs = (type: string): string =>
    spread(sinceWoken.filter((event) => event.type === type).map(({ atMs }) => atMs - wokenAtMs));
  const old = sinceWoken.filter((event) => {
    if (event.type !== 'started') return false;
    // a token that it has not gained since it woke
    return !sinceWoken.some(
      (other) => other.type === 'gained' && other.job === event.job && other.token === event.token,
    );
  });
  const acquire = log.between(wokenAtMs, Infinity).find((command) => {
    return command.from === node && log.kindOf(command) === 'acquire';
  });
  return {
    'stopped for s': seconds,
    jobs,
    'runs started under the old token': old.length,
    'waking to its aborts ms, p50 / p99 / max': sinceWakingMs('aborted'),
    'waking to its terms lost ms': sinceWakingMs('lost'),
    'waking to its first acquire request ms': acquire === undefined ? 'not seen' : Math.round(acquire.atMs - wokenAtMs),
    'waking to its grants ms': sinceWakingMs('gained'),
    ...damage(fleet, stoppedAtMs),
  };
};
