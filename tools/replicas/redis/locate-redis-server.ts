import { delimiter, join } from 'node:path';
import { unpackDebian } from '../debian-packages.js';
import { isSupported, type RedisBinary, redisBinary } from './redis-binary.js';

const NOT_FOUND = `No Redis to start: none on the PATH, and none to be had as a Debian package. Install Redis 6.2 or later:
  Debian, Ubuntu   sudo apt-get install redis-server
  macOS            brew install redis
  Windows          work inside WSL
or set REDIS_SERVER to the path of a redis-server or valkey-server.`;

let located: Promise<RedisBinary> | undefined;

/**
 * A Redis that this machine can run, from the first of: REDIS_SERVER, the PATH, the packages of Debian or Ubuntu (fetched
 * once, without root). Looked for once per process. Rejects with the lines that install one.
 * REDIS_URL plays no part here: it names a server that runs already and must not be stopped.
 */
export function locateRedisServer(): Promise<RedisBinary> {
  return (located ??= locate());
}

async function locate(): Promise<RedisBinary> {
  const chosen = process.env['REDIS_SERVER'];
  if (chosen !== undefined && chosen !== '') {
    return (await redisBinary(chosen)) ?? fail(`REDIS_SERVER=${chosen} does not run`);
  }
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['redis-server', 'valkey-server']) {
      const binary = await redisBinary(join(folder, name));
      if (binary !== undefined && isSupported(binary.version)) return binary;
    }
  }
  const debian = await unpackDebian('redis', ['redis-server', 'redis-tools']);
  const unpacked = debian && (await redisBinary(join(debian.root, 'usr/bin/redis-server'), debian.env));
  return unpacked !== undefined && isSupported(unpacked.version) ? unpacked : fail(NOT_FOUND);
}

function fail(message: string): never {
  throw new Error(message);
}
