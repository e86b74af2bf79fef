import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { overlaps } from '../../tools/replicas/history.js';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { freePort } from '../../tools/replicas/redis/free-port.js';
import { type WorkerVariables } from '../../tools/replicas/worker-process.js';
import { LASTING, Workers } from '../../tools/replicas/workers.js';
import { documentedRights } from '../support/documented-rights.js';
import { TlsCertificate } from '../support/tls-certificate.js';

/** Runs until the connections have ended once, and the leader has stopped once. */
async function playStory(server: RedisServer, url: string, variables: WorkerVariables = {}): Promise<void> {
  const admin = new Redis(server.url);
  await using workers = await Workers.start(url, { SINGLETON_JOB_PROJECT_NAME: 'myapp', ...LASTING, ...variables });
  await workers.untilJobsGoOn(Date.now());
  await admin.call('CLIENT', 'KILL', 'SKIPME', 'yes');
  await workers.untilJobsGoOn(Date.now());
  expect(workers.eventsOf('price-tick', 'leadershipGained')).toHaveLength(1);

  const leader = workers.leaderOf('price-tick');
  await leader.stop();
  await workers.until('another replica leads', () => workers.leadersOf('price-tick').length === 1);
  expect(workers.leaderOf('price-tick')).not.toBe(leader);
  await workers.untilJobsGoOn(Date.now());
  expect(await workers.stop()).toEqual([expect.objectContaining({ code: 0 }), expect.objectContaining({ code: 0 })]);
  expect(overlaps(workers.runs())).toEqual([]);
  expect(workers.all.flatMap(({ lines }) => lines.filter(({ text }) => /denied|permit/.test(text)))).toEqual([]);
  admin.disconnect();
}

describe('A lost connection keeps the lease, and a stopped leader hands over', () => {
  it('over TLS', async () => {
    await using certificate = await TlsCertificate.create();
    const port = await freePort();
    await using server = await RedisServer.start({ args: certificate.redisArguments(port) });
    await playStory(server, `rediss://127.0.0.1:${String(port)}`, { NODE_EXTRA_CA_CERTS: certificate.file });
  });

  it('as an ACL user with the rights that the documentation names', async () => {
    const [rights = ''] = documentedRights('myapp');
    await using server = await RedisServer.start();
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', 'resetchannels', ...rights.split(' '));
    admin.disconnect();
    await playStory(server, server.url.replace('//', '//app:secret@'));
  });
});
