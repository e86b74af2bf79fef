import { createConnection } from 'mysql2/promise';
import { execFile } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import { ownFolder, OwnServer } from './own-server.js';
import { findProgram, type Program } from './program.js';
import { NOBODY } from './server-process.js';

let found: Promise<Program> | undefined;

function findServer(): Promise<Program> {
  return (found ??= findProgram({
    name: 'mariadb',
    files: ['mariadbd', 'mysqld'],
    chosen: process.env['MYSQLD'],
    packages: ['mariadb-server-core'],
    howToInstall: `Install MariaDB 10.11 or later, or MySQL 8 or later:
  Debian, Ubuntu   sudo apt-get install mariadb-server-core
  macOS            brew install mariadb
or set MYSQLD to the file mariadbd or mysqld.`,
  }).then(async ({ path, env, version }) => ({
    path: await realpath(path),
    env,
    version: version.replace(/^.*Ver (\S+) .*$/, '$1'),
  })));
}

/** The scripts of the tables in which a MariaDB keeps its users, in a folder of their own name. */
const SYSTEM_TABLES = ['system_tables', 'performance_tables', 'system_tables_data'];
const NAMES = ['mariadb', 'mysql'];

/** A MariaDB or MySQL. Its files outlive a kill: `up()` starts it again with all that was committed. */
export class MysqlServer extends OwnServer {
  /** `args` are more arguments of the server. */
  static async start(args: readonly string[] = []): Promise<MysqlServer> {
    const program = await findServer();
    const dir = await ownFolder('mysql');
    const server = new MysqlServer(program, dir, await freePort(), NOBODY);
    server.#args = args;
    await mkdir(server.#data);
    for (const path of [dir, server.#data]) if (NOBODY.uid !== undefined) chownSync(path, NOBODY.uid, NOBODY.gid);
    await server.#fill();
    await server.up();
    await using connection = await createConnection(server.urlOf('root', ''));
    await connection.query('CREATE DATABASE shop');
    return server;
  }

  protected override readonly shutdownSignal = 'SIGTERM';
  #args: readonly string[] = [];

  override get url(): string {
    return this.urlOf('root');
  }

  /** The URL for another user, who needs no password, or another database. */
  urlOf(user: string, database = 'shop'): string {
    return `mysql://${user}@127.0.0.1:${String(this.port)}/${database}`;
  }

  get #data(): string {
    return join(this.dir, 'data');
  }

  /** Messages and the system tables of a MariaDB lie beside the program. */
  get #share(): string {
    const folders = NAMES.map((name) => join(dirname(this.program.path), '../share', name));
    return folders.find((folder) => existsSync(scriptIn(folder, 'system_tables'))) ?? '';
  }

  get #isMariadb(): boolean {
    return this.program.version.includes('MariaDB');
  }

  get #settings(): readonly string[] {
    const share = [`--lc-messages-dir=${this.#share}`, `--character-sets-dir=${this.#share}/charsets`];
    const own = this.#isMariadb ? [...share, '--innodb-log-file-size=8M'] : ['--mysqlx=OFF', '--secure-file-priv=NULL'];
    const small = ['--innodb-buffer-pool-size=16M', '--performance-schema=off'];
    // a server removes the temporary tables of others that start beside it
    const files = [`--datadir=${this.#data}`, `--tmpdir=${this.dir}`];
    return ['--no-defaults', ...files, ...own, ...small];
  }

  protected override arguments(): readonly string[] {
    const place = [`--port=${String(this.port)}`, '--bind-address=127.0.0.1', `--socket=${join(this.dir, 'socket')}`];
    // MySQL knows its root only by the name of the host
    const names = this.#isMariadb ? ['--skip-name-resolve'] : [];
    return [...this.#settings, ...place, ...names, ...this.#args];
  }

  protected override async isAnswering(): Promise<boolean> {
    try {
      const connection = await createConnection({ uri: this.urlOf('root', ''), connectTimeout: 500 });
      connection.on('error', () => undefined);
      await connection.end();
      return true;
    } catch {
      return false;
    }
  }

  /** MariaDB has a script in Perl for this, which packages may lack. */
  async #fill(): Promise<void> {
    const { path, env } = this.program;
    const names = this.#isMariadb ? SYSTEM_TABLES : [];
    const scripts = await Promise.all(names.map((name) => readFile(scriptIn(this.#share, name), 'utf8')));
    const args = [...this.#settings, this.#isMariadb ? '--bootstrap' : '--initialize-insecure'];
    const filling = promisify(execFile)(path, args, { ...NOBODY, env, cwd: this.dir });
    const sql = ['CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n', ...scripts];
    filling.child.stdin?.end(sql.join('\n'));
    await filling;
  }
}

function scriptIn(folder: string, name: string): string {
  return join(folder, `${basename(folder)}_${name}.sql`);
}
