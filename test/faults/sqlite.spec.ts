import { expect, it } from '@jest/globals';
import { open } from 'node:fs/promises';
import { violations } from '../../tools/replicas/history.js';
import { WorkerProcess, type WorkerVariables } from '../../tools/replicas/worker-process.js';
import { JOBS, LOCK_EXPIRY_MS, QUICK, Workers } from '../../tools/replicas/workers.js';
import { SqliteServer } from '../../tools/servers/sqlite-server.js';

/** Other code of the process: it reads files and closes them, as a backup or another SQLite library does. */
const READ_FILES = `import { readFileSync } from 'node:fs';
  process.on('message', ({ question }) => {
    for (const path of JSON.parse(question)) readFileSync(path);
    process.send({ answers: question, value: true });
  });
  process.channel.unref();`;

it('A leader whose process has ended its own locks on the file is still the only one', async () => {
  await using server = await SqliteServer.start();
  const variables: WorkerVariables = {
    ...QUICK,
    SINGLETON_JOB_CONNECTION: server.url,
    SINGLETON_JOB_PROJECT_NAME: 'sqlite-faults',
  };
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(READ_FILES)}`];
  const leader = new WorkerProcess('a', variables, { execArgv });
  await using workers = Workers.of(leader);
  const startWorker = (node: string) => workers.add(new WorkerProcess(node, variables));
  await workers.until('the first one leads', () => JOBS.every((job) => workers.leadersOf(job).length === 1));
  const follower = await startWorker('b');

  await using log = await open(`${server.file}-wal`);
  // a POSIX lock belongs to the process, and ends when any of its code closes the file
  await leader.request(JSON.stringify([server.file, `${server.file}-shm`]));
  await follower.stop();
  // it took itself for the last one
  expect((await log.stat()).nlink).toBe(0);

  await startWorker('c');
  const restartedMs = Date.now();
  await workers.untilJobsGoOn(restartedMs + 2 * LOCK_EXPIRY_MS);
  for (const job of JOBS) expect(workers.leadersOf(job)).toHaveLength(1);
  expect(violations(workers.runs())).toEqual([]);
});
