import { delimiter, join } from 'node:path';
import { unpackDebianRedis } from './debian-packages.js';
import { dockerRedis } from './docker.js';
import { executable, isSupported, versionOf } from './executable.js';
import { type RedisBinary } from './redis-binary.js';

const NOT_FOUND = `No Redis to start: none on the PATH, none to be had as a Debian package, no Docker engine. Install Redis 6.2 or later:
  Debian, Ubuntu   sudo apt-get install redis-server
  macOS            brew install redis
  Windows          winget install -e --id Docker.DockerDesktop (and start it), or work inside WSL
or set REDIS_SERVER to the path of a redis-server or valkey-server.`;

let located: Promise<RedisBinary> | undefined;

/**
 * A Redis that this machine can run, from the first of: REDIS_SERVER, the PATH, the packages of Debian or Ubuntu (fetched
 * once, without root), Docker. Looked for once per process. Rejects with the lines that install one.
 * REDIS_URL plays no part here: it names a server that runs already and must not be stopped.
 */
export function locateRedisServer(): Promise<RedisBinary> {
  return (located ??= locate());
}

async function locate(): Promise<RedisBinary> {
  const chosen = process.env['REDIS_SERVER'];
  if (chosen !== undefined && chosen !== '') return fromEnvironment(chosen);
  return (await fromPath()) ?? (await fromPackages()) ?? (await dockerRedis()) ?? fail(NOT_FOUND);
}

async function fromEnvironment(path: string): Promise<RedisBinary> {
  const version = await versionOf(path);
  return version === undefined ? fail(`REDIS_SERVER=${path} does not run`) : executable(path, `${path} (${version})`);
}

async function fromPath(): Promise<RedisBinary | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['redis-server', 'valkey-server']) {
      const path = join(folder, name);
      const version = await versionOf(path);
      if (version !== undefined && isSupported(version)) return executable(path, `${path} (${version})`);
    }
  }
  return undefined;
}

async function fromPackages(): Promise<RedisBinary | undefined> {
  const unpacked = await unpackDebianRedis();
  if (unpacked === undefined) return undefined;
  const version = await versionOf(unpacked.path, unpacked.env);
  if (version === undefined || !isSupported(version)) return undefined;
  return executable(unpacked.path, `packages of this distribution (${version})`, unpacked.env);
}

function fail(message: string): never {
  throw new Error(message);
}
