import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { resolveModuleOptions } from '../resolve-options.js';

const resolve = (connection: unknown, rest = {}) => resolveModuleOptions({ projectName: 'test', connection, ...rest });

/** A function that returns the next of these at each call, and fails with an error. */
function connections(...results: unknown[]): () => Promise<unknown> {
  return async () => {
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  };
}

describe('A connection that is a function', () => {
  it('is called at start-up and for each new client, once for those that connect at the same time', async () => {
    const { connection, readConnection } = await resolve(connections('redis://a:1', { host: 'b' }, 'redis://c:3'));
    expect(connection).toBe('redis://a:1');
    expect(await Promise.all([readConnection?.(), readConnection?.()])).toEqual([{ host: 'b' }, { host: 'b' }]);
    expect(await readConnection?.()).toBe('redis://c:3');
  });

  it('is not called where a store wins', async () => {
    const { connection, readConnection } = await resolve(connections(), { store: 'memory' });
    expect([connection, readConnection]).toEqual([undefined, undefined]);
  });

  it('may fail where all jobs are off, which only locks and commands notice', async () => {
    const { connection } = await resolve(connections('redis://a:1'), { enabled: false });
    const without = await resolve(connections(new Error('sealed')), { enabled: false });
    expect([connection, without.connection]).toEqual(['redis://a:1', undefined]);
  });

  it('is a mistake if it fails', async () => {
    const failure =
      'connection is a function, and it failed: Vault is sealed. ' +
      'The start needs its answer, which says which store it is: start again when it answers';
    await expect(resolve(connections(new Error('Vault is sealed')))).rejects.toMatchObject({ problems: [failure] });
  });

  it('and fails hides no mistake, and makes none of an option for PostgreSQL', async () => {
    const rest = { schema: 'My-Jobs', migrate: false };
    const problems = [/it failed: sealed/, /^schema must be a name/].map((text) => expect.stringMatching(text));
    await expect(resolve(connections(new Error('sealed')), rest)).rejects.toMatchObject({ problems });
  });

  it('is a mistake in the options if it returns one, also at once', async () => {
    const problems = [
      expect.stringMatching(/^connection must be a redis:.* URL of one server, or sqlite: and a file, got/),
    ];
    await expect(resolve(() => 'http://a')).rejects.toMatchObject({ problems });
  });

  describe('and time', () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it.each([
      [
        'redis://a:1',
        '',
        'be a redis://, rediss://, postgresql:// or mysql:// URL of one server, or sqlite: and a file, got',
      ],
      ['redis://a', 'postgresql://a/b', 'stay one Redis server, got a PostgreSQL: restart to change it'],
      [{ postgres: {} }, { host: 'a' }, 'stay a PostgreSQL, got one Redis server: restart to change it'],
      [{ nodes: [7000] }, 'redis://a', 'stay a Redis Cluster, got one Redis server: restart to change it'],
    ])('fails a later client if it was %j and is now %j', async (first, later, must) => {
      const { readConnection } = await resolve(connections(first, later));
      await expect(readConnection?.()).rejects.toThrow(`what the function connection returns must ${must}`);
    });

    it('is not called again in the second after it failed', async () => {
      const { readConnection } = await resolve(connections('redis://a:1', new Error('sealed'), 'redis://b:2'));
      const sealed = 'connection is a function, and it failed: sealed';
      await expect(readConnection?.()).rejects.toThrow(sealed);
      await jest.advanceTimersByTimeAsync(999);
      await expect(readConnection?.()).rejects.toThrow(sealed);
      await jest.advanceTimersByTimeAsync(1);
      expect(await readConnection?.()).toBe('redis://b:2');
    });

    it('fails after 3 s without an answer, at start-up after 10 s', async () => {
      const start = expect(resolve(() => new Promise(() => undefined))).rejects.toThrow('not answer within 10 s');
      await jest.advanceTimersByTimeAsync(10_000);
      await start;
      const answers = ['redis://a:1', new Promise(() => undefined), 'redis://b:2'];
      const { readConnection } = await resolve(() => answers.shift());
      const hanging = expect(readConnection?.()).rejects.toThrow('it did not answer within 3 s');
      await jest.advanceTimersByTimeAsync(3_000);
      await hanging;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(await readConnection?.()).toBe('redis://b:2');
    });
  });
});
