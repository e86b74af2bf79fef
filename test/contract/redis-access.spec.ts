import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { A, eventually, NAME, SuiteClient } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { RedisFixture, isListening, type OpenStore } from './redis-fixture.js';

const RIGHTS = '~{myapp}:* &{myapp}:hints +@read +@write -@dangerous +@scripting +subscribe +publish +info +time';

/** What a message says if a right is missing. For a command inside a script Redis does not name it. */
const NAMED: Readonly<Record<string, string>> = {
  '~{myapp}:*': "'sync' with NOPERM",
  '&{myapp}:hints': 'access one of the channels',
  '+@read': "'mget' command",
  '+@write': "can't run this command",
  '+@scripting': "'eval' command",
  '+subscribe': "'subscribe' command",
  '+publish': "'publish' with",
  '+time': "can't run this command",
};

let fixture: RedisFixture;

beforeAll(async () => {
  fixture = await RedisFixture.start();
  // ioredis says that it skips its ready check where INFO is denied
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

beforeEach(async () => {
  await fixture.raw.flushall();
});

afterAll(async () => {
  jest.restoreAllMocks();
  await fixture[Symbol.asyncDispose]();
});

const user = async (name: string, ...rules: string[]): Promise<string> => {
  await fixture.raw.call('ACL', 'SETUSER', name, 'on', '>secret', ...rules);
  return fixture.server.url.replace('//', `//${name}:secret@`);
};

/** Everything that a store sends, and every error and warning that came of it. */
async function complaintsOf({ store, events, warnings }: OpenStore): Promise<string[]> {
  const replica = new SuiteClient(store);
  const errors: unknown[] = [];
  const note = (error: unknown): unknown => errors.push(error);
  const synced = await replica.sync({ grant: [A], read: [NAME] }).catch(note);
  if (typeof synced === 'object') await replica.write().catch(note);
  await store.publish(['price-tick:lock']).catch(note);
  const isAnswered = () =>
    events.includes('listening') || warnings.some(({ code }) => code === 'MESSAGES_NOT_DELIVERED');
  await eventually('the subscription is answered', () => isAnswered() || undefined);
  return [...errors.map(String), ...warnings.map(({ message }) => message)];
}

describe('what Redis permits', () => {
  it('is enough with the rights that a message names', async () => {
    const opened = fixture.begin({ connection: await user('own', 'resetchannels', '-@all', ...RIGHTS.split(' ')) });
    expect(await complaintsOf(opened)).toEqual([]);
    expect([...opened.events].sort()).toEqual(['connected', 'listening']);
  });

  it.each(Object.keys(NAMED))('lacks a right, and the message says so and names all: %s', async (right) => {
    const others = RIGHTS.split(' ').filter((one) => one !== right);
    const connection = await user('lacking', 'reset', 'on', '>secret', 'resetchannels', ...others);
    const opened = fixture.begin({ connection });
    const complaints = await complaintsOf(opened);
    await opened.store.close();
    expect(complaints.join(' ')).toContain(NAMED[right]);
    for (const complaint of complaints) expect(complaint).toContain(`The ACL of the user needs: ${RIGHTS}`);
  });

  it('may lack the channel: nothing else fails, and the store listens once it may', async () => {
    const opened = fixture.begin({ connection: await user('mute', '~*', 'resetchannels', '+@all') });
    const { store, events, warnings } = opened;
    const replica = new SuiteClient(store);
    await eventually('the store warns', () => warnings.at(0));
    await replica.sync({ grant: [A] });
    await replica.put();
    await expect(store.publish('*')).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect([events, warnings]).toEqual([
      ['connected'],
      [
        {
          code: 'MESSAGES_NOT_DELIVERED',
          message: expect.stringMatching(
            /^gets no messages of other replicas, or sends none \(Redis answered '(subscribe|publish)' with NOPERM/,
          ),
        },
      ],
    ]);
    await user('mute', '&{myapp}:hints');
    await isListening(opened);
    await store.publish('*');
    // Redis ends the connections of a user who loses a channel
    await user('mute', 'resetchannels');
    await eventually('it does not listen any more', () => events.includes('not listening') || undefined);
  });

  it('may be taken and given back while a store is connected', async () => {
    const { store, events } = await fixture.connect({ connection: await user('changing', '~*', '&*', '+@all') });
    const replica = new SuiteClient(store);
    await replica.sync({ grant: [A] });
    await user('changing', '-eval');
    await expect(replica.sync()).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await user('changing', '+eval');
    await replica.sync();
    expect([...events].sort()).toEqual(['connected', 'listening']);
  });
});

describe.each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
])('a password, with %s,', (_, Client) => {
  const client = (url: string) => new Client(url, { lazyConnect: true });

  it('that is wrong is reported at each attempt, until it is right', async () => {
    const url = await user('late', 'reset', 'on', '>other', '~*', '&*', '+@all').then(() =>
      fixture.server.url.replace('//', '//late:secret@'),
    );
    const opened = fixture.begin({ connection: client(url) });
    const error = {
      code: 'STORE_MISCONFIGURED',
      wasSent: false,
      message: expect.stringMatching(/WRONGPASS.*Check the user name and the password in connection/),
    };
    await fixture.raw.call('ACL', 'SETUSER', 'late', 'resetpass', '>yetanother');
    await expect(
      opened.store.sync({ isNewcomer: true, renew: [], grant: [], revoke: [], read: [] }),
    ).rejects.toMatchObject(error);
    await eventually('another attempt', () => opened.disconnected.at(2));
    expect(opened.disconnected).toEqual(opened.disconnected.map(() => expect.objectContaining(error)));
    await user('late', 'resetpass', '>secret');
    await isListening(opened);
  });

  it('that is required is named in the message', async () => {
    await fixture.raw.config('SET', 'requirepass', 'secret');
    try {
      const { disconnected } = fixture.begin({ connection: client(fixture.server.url) });
      await eventually('the store is refused', () => disconnected.at(0));
      expect(disconnected[0]).toMatchObject({
        code: 'STORE_MISCONFIGURED',
        message: expect.stringContaining('NOAUTH'),
      });
    } finally {
      await fixture.raw.config('SET', 'requirepass', '');
    }
  });

  it('that has changed is read anew before each connection', async () => {
    let password = 'first';
    const set = () => user('rotated', 'reset', 'on', `>${password}`, '~*', '&*', '+@all');
    const read = () => fixture.server.url.replace('//', `//rotated:${password}@`);
    await set();
    const opened = await fixture.connect({ connection: client(read()), readConnection: () => Promise.resolve(read()) });
    password = 'second';
    await set();
    opened.events.length = 0;
    await fixture.raw.call('CLIENT', 'KILL', 'USER', 'rotated');
    await isListening(opened);
    expect(opened.disconnected.map(({ code }) => code)).toEqual(['STORE_UNREACHABLE']);
    await new SuiteClient(opened.store).sync({ grant: [A] });
  });

  it('that cannot be read is an attempt that failed', async () => {
    await user('unread', '~*', '&*', '+@all');
    let isDenied = true;
    const opened = fixture.begin({
      connection: client(fixture.server.url),
      readConnection: () =>
        isDenied
          ? Promise.reject(new Error('no access to the secret'))
          : Promise.resolve(fixture.server.url.replace('//', '//unread:secret@')),
    });
    await eventually('two attempts failed', () => opened.disconnected.at(1));
    expect(opened.disconnected[0]?.message).toBe('Redis is not connected: no access to the secret');
    isDenied = false;
    await isListening(opened);
  });
});
