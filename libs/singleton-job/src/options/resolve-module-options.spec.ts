import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { resolveModuleOptions } from './resolve-module-options.js';

const resolve = (connection: unknown, rest = {}) => resolveModuleOptions({ projectName: 'test', connection, ...rest });
const CLUSTER = { nodes: [{ host: 'redis-0', port: 6379 }] };

/** A function that returns the next of these at each call, and fails with an error. */
function connections(...results: unknown[]): () => Promise<unknown> {
  return async () => {
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  };
}

describe('A connection that is a function', () => {
  it('is called at start-up and for each new client', async () => {
    const { connection, readConnection } = await resolve(connections('redis://a:1', { host: 'b' }, 'redis://c:3'));
    expect(connection).toBe('redis://a:1');
    expect([await readConnection?.(), await readConnection?.()]).toEqual([{ host: 'b' }, 'redis://c:3']);
  });

  it('may return it at once', async () => {
    expect((await resolve(() => 'redis://a:1')).connection).toBe('redis://a:1');
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

  it('does not hide other mistakes when it fails', async () => {
    const problems = ['connection is a function, and it failed: sealed', expect.stringMatching(/^nodeId must/)];
    await expect(resolve(connections(new Error('sealed')), { nodeId: '' })).rejects.toMatchObject({ problems });
  });

  it('is no mistake in the options if it fails', async () => {
    await expect(resolve(connections(new Error('Vault is sealed')))).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: expect.stringContaining('connection is a function, and it failed: Vault is sealed') as unknown,
    });
  });

  it.each([
    [
      'returns another kind',
      connections('http://a'),
      /^connection must be a redis:\/\/, rediss:\/\/ or postgresql:\/\/ URL, got/,
    ],
    [
      'returns a client with another keyPrefix',
      connections({ keyPrefix: 'a' }),
      /^connection.keyPrefix is not supported/,
    ],
  ])('is a mistake in the options if it %s', async (_how, connection, problem) => {
    const message = expect.stringMatching(problem) as unknown;
    await expect(resolve(connection)).rejects.toMatchObject({ problems: [message] });
  });

  it('is called once for clients that connect at the same time', async () => {
    const { readConnection } = await resolve(connections('redis://a:1', 'redis://b:2', 'redis://c:3'));
    expect(await Promise.all([readConnection?.(), readConnection?.()])).toEqual(['redis://b:2', 'redis://b:2']);
    expect(await readConnection?.()).toBe('redis://c:3');
  });

  describe('and time', () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('fails a later client if what it returns is wrong, or another kind', async () => {
      const { readConnection } = await resolve(connections('redis://a:1', '', CLUSTER, 'postgres://a'));
      const prefix = 'what the function connection returns must';
      for (const mistake of [
        "be a redis://, rediss:// or postgresql:// URL, got ''",
        'stay one Redis server, got a Redis Cluster',
        'stay one Redis server, got a PostgreSQL',
      ]) {
        await expect(readConnection?.()).rejects.toThrow(`${prefix} ${mistake}`);
        jest.advanceTimersByTime(1_000);
      }
    });

    it('is not called again in the second in which it failed', async () => {
      const { readConnection } = await resolve(connections('redis://a:1', new Error('sealed'), 'redis://b:2'));
      const sealed = 'connection is a function, and it failed: sealed';
      await expect(readConnection?.()).rejects.toThrow(sealed);
      jest.advanceTimersByTime(999);
      await expect(readConnection?.()).rejects.toThrow(sealed);
      jest.advanceTimersByTime(1);
      expect(await readConnection?.()).toBe('redis://b:2');
    });

    it('fails after 10 s without an answer at start-up', async () => {
      const answer = expect(resolve(() => new Promise(() => undefined))).rejects.toThrow('not answer within 10 s');
      await jest.advanceTimersByTimeAsync(10_000);
      await answer;
    });

    it('is called anew by the next client after 3 s without an answer', async () => {
      const answers = ['redis://a:1', new Promise(() => undefined), 'redis://b:2'];
      const { readConnection } = await resolve(() => answers.shift());
      const hanging = expect(readConnection?.()).rejects.toThrow('it did not answer within 3 s');
      await jest.advanceTimersByTimeAsync(3_000);
      await hanging;
      expect(await readConnection?.()).toBe('redis://b:2');
    });
  });
});
