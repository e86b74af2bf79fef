/** By the name of an option that there is not, what to do instead. */
export type OptionWords = Readonly<Record<string, string>>;

const EXPIRY = 'set lockExpiry: how long a job has no leader after a crash. It is renewed, so a run may be longer';

/** Options of the module. */
export const MODULE_WORDS = wordsOf({
  'redis redisOptions postgres mysql url uri host port user username password database tls':
    "set connection, as in connection: 'redis://host:6379' or connection: 'postgresql://user:password@host/database'",
  nodes: "the nodes of a cluster belong in connection, as in connection: { nodes: ['redis://host:6379'] }",
  'keyPrefix prefix namespace': 'the keys begin with projectName, so set that instead',
  'ttl lockTtl lockAtMostFor defaultLockAtMostFor leaseDuration leaseTime': EXPIRY,
  'imports inject useFactory useClass useExisting': 'pass it to forRootAsync()',
  'global isGlobal': 'leave it out, because the module is global',
  disabled: 'say enabled: false',
});

/** Options of a job, such as those of `@nestjs/schedule`, ShedLock, queues and cron packages. */
export const JOB_WORDS = wordsOf({
  'key lockKey lockName id jobId jobName taskName singletonKey': "write name, as in { name: 'price-tick' }",
  'every pattern expression cronExpression cronTime schedule repeat fixedDelay fixedRate':
    "it is the first argument, as in @Cron('0 3 * * *') or @FixedRate('5m'); @Interval('5m') waits after each run",
  'disabled paused scheduled autoStart': 'write enabled, as in enabled: false',
  'waitForCompletion noOverlap protect preventOverrun concurrency maxConcurrency maxInstances':
    "leave it out, because runs of a job never overlap; with overlap: 'cancel-other' a new tick aborts the run in flight",
  'ttl lockTtl lockAtMostFor lockLifetime lease leaseTime': `${EXPIRY}. To limit a run set timeout`,
  'lockAtLeastFor minLockTime':
    'leave it out, because each cron occurrence starts at most once, whatever the clocks of the replicas say',
  'attempts retries retry retryLimit maxRetries retryDelay backoff':
    'the next tick tries again; to try sooner, write a loop in the run that waits by run.sleep()',
  'maxRuntime maxDuration expireInSeconds': 'write timeout: when a run is aborted',
  'onError onFailure catch errorHandler': "decorate a method with @OnJobEvent('runFailed')",
  maxRandomDelay: 'write jitter',
  'tz zone': "did you mean 'timeZone'?",
  utcOffset: "name the zone instead, as in timeZone: 'Asia/Singapore'; an offset knows no summer time",
  'threshold misfireThreshold recoverMissedExecutions catchUp backfill backfillPeriod coalesce':
    'misfireGrace says how late an occurrence may start; leave it out or use that',
  'runOnInit runOnStart immediate immediately fireImmediately':
    "write @Once, or firstRun: 'now' for @Cron or @Interval: once on all replicas, with version also after a deploy",
  'startDate endDate startAt stopAt': 'let only of @Cron decide, as in only: (date) => date < END',
  'limit maxRuns maxExecutions':
    'count the runs in your database, and call pause() of SingletonJobRegistry after the last one',
  unrefTimeout: 'no timer keeps the process alive after app.close(); leave it out',
});

/** Options of a lock, such as those of Redlock. */
export const LOCK_WORDS = wordsOf({
  'expiry lockExpiry ttl lockAtMostFor duration leaseTime automaticExtensionThreshold':
    'a lock lives as long as the lease of its replica, so set lockExpiry of the module',
  'timeout waitTime maxWait acquireTimeout retryCount retryDelay retries':
    'write wait: how long to wait for another holder',
  'key name tenant resource': 'it belongs into the first argument, the key',
});

/** From sentences that each stand for several names. */
function wordsOf(sentences: Readonly<Record<string, string>>): OptionWords {
  const words = Object.entries(sentences).flatMap(([names, fix]) =>
    names.split(' ').map((name) => [name, fix] as const),
  );
  return Object.fromEntries(words);
}
