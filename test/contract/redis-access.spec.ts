import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type RedisStore } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { A, until, NAME } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { oneForAll } from '../support/use-redis.js';
import { RedisFixture, VERSIONS } from './redis-fixture.js';
import { isListening, type OpenStore } from './reporting-store.js';

const RIGHTS = '~{myapp}:* &{myapp}:hints +@read +@write -@dangerous +@scripting +subscribe +publish +info +time';

/** What a message says if a right is missing. Redis 8 names it for a command inside a script as well. */
const NAMED: Readonly<Record<string, RegExp>> = {
  '~{myapp}:*': /'sync' with NOPERM/,
  '&{myapp}:hints': /access (one of the channels|a channel)/,
  '+@read': /'mget' command/,
  '+@write': /can't run this command|'zrem' command/,
  '+@scripting': /'eval' command/,
  '+subscribe': /'subscribe' command/,
  '+publish': /'publish' with/,
  '+time': /can't run this command|'time' command/,
};

const fixture = oneForAll(() => RedisFixture.start());

beforeAll(() => {
  // ioredis says that it skips its ready check where INFO is denied
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

beforeEach(async () => {
  await fixture().raw.flushall();
});

afterAll(() => {
  jest.restoreAllMocks();
});

const user = async (name: string, ...rules: string[]): Promise<string> => {
  await fixture().raw.call('ACL', 'SETUSER', name, 'on', '>secret', ...rules);
  return fixture().server.url.replace('//', `//${name}:secret@`);
};

/** Everything that a store sends, and every error and warning that came of it. */
async function problemsOf({ store, replica, events, warnings }: OpenStore<RedisStore>): Promise<string[]> {
  const errors: unknown[] = [];
  const note = (error: unknown): unknown => errors.push(error);
  const synced = await replica.sync({ grant: [A], read: [NAME] }).catch(note);
  if (typeof synced === 'object') await replica.write().catch(note);
  await store.publish(['price-tick:job']).catch(note);
  const isAnswered = () => events.includes('listening') || warnings.some(({ code }) => code === 'HINTS_NOT_DELIVERED');
  await until('the subscription is answered', () => isAnswered() || undefined);
  return [...errors.map(String), ...warnings.map(({ message }) => message)];
}

describe('what Redis permits', () => {
  it('is enough with the rights that a message names', async () => {
    const opened = fixture().begin({ connection: await user('own', 'resetchannels', '-@all', ...RIGHTS.split(' ')) });
    expect(await problemsOf(opened)).toEqual([]);
    expect([...opened.events].sort()).toEqual(['connected', 'listening']);
  });

  it.each(Object.keys(NAMED))('lacks a right, and the message says so and names all: %s', async (right) => {
    const others = RIGHTS.split(' ').filter((one) => one !== right);
    const connection = await user('lacking', 'reset', 'on', '>secret', 'resetchannels', ...others);
    const opened = fixture().begin({ connection });
    const problems = await problemsOf(opened);
    await opened.store.close();
    expect(problems.join(' ')).toMatch(NAMED[right] ?? '');
    for (const problem of problems) expect(problem).toContain(`The ACL of the user needs: ${RIGHTS}`);
  });

  it('may lack the channel: nothing else fails, and the store listens while it may', async () => {
    const opened = fixture().begin({ connection: await user('mute', '~*', 'resetchannels', '+@all') });
    const { store, replica, events, warnings } = opened;
    await until('the store warns', () => warnings.at(0));
    await replica.sync({ grant: [A] });
    await replica.put();
    await expect(store.publish('*')).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect([events, warnings]).toMatchObject([['connected'], [{ code: 'HINTS_NOT_DELIVERED' }]]);
    await user('mute', '&{myapp}:hints');
    await isListening(opened);
    await store.publish('*');
    // Redis ends the connections of a user who loses a channel
    await user('mute', 'resetchannels');
    await until('it does not listen any more', () => events.includes('not listening') || undefined);
  });

  it('may lack GET alone: a record that cannot be looked at is not an absent one', async () => {
    const { replica } = await fixture().connect({ connection: await user('half', '~*', '&*', '+@all', '-get') });
    await expect(replica.read(NAME)).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('may be taken and given back while a store is connected', async () => {
    const { replica, events } = await fixture().connect({ connection: await user('changing', '~*', '&*', '+@all') });
    await replica.sync({ grant: [A] });
    await user('changing', '-eval');
    await expect(replica.sync()).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await user('changing', '+eval');
    await replica.sync();
    expect([...events].sort()).toEqual(['connected', 'listening']);
  });
});

describe.each(VERSIONS)('a password, with %s,', (_, Client) => {
  const client = (url: string) => new Client(url, { lazyConnect: true });

  it('that is wrong is reported at each attempt, until it is right', async () => {
    const url = await user('late', 'resetpass', '>other', '~*', '&*', '+@all');
    const opened = fixture().begin({ connection: client(url) });
    const error = { code: 'STORE_MISCONFIGURED', wasSent: false };
    await expect(opened.replica.sync()).rejects.toMatchObject(error);
    await until('another attempt', () => opened.disconnected.at(2));
    expect(opened.disconnected).toEqual(opened.disconnected.map(() => expect.objectContaining(error)));
    await user('late', 'resetpass', '>secret');
    await isListening(opened);
  });

  it('that has changed is read anew before each connection, which fails while it cannot be read', async () => {
    let password: string | undefined;
    const set = () => user('rotated', 'reset', 'on', `>${String(password)}`, '~*', '&*', '+@all');
    const readConnection = async () => {
      if (password === undefined) throw new Error('no access to the secret');
      return fixture().server.url.replace('//', `//rotated:${password}@`);
    };
    const opened = fixture().begin({ connection: client(fixture().server.url), readConnection });
    await until('two attempts failed', () => opened.disconnected.at(1));
    expect(opened.disconnected[0]?.message).toBe('Redis is not connected: no access to the secret');
    password = 'first';
    await set();
    await isListening(opened);
    password = 'second';
    await set();
    opened.events.length = opened.disconnected.length = 0;
    await fixture().raw.call('CLIENT', 'KILL', 'USER', 'rotated');
    await isListening(opened);
    expect(opened.disconnected.map(({ code }) => code)).toEqual(['STORE_UNREACHABLE']);
    await opened.replica.sync({ grant: [A] });
  });
});
