import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../tools/servers/free-port.js';
import { ownFolder, OwnServer } from '../../tools/servers/own-server.js';
import { giveToPostgres, type PostgresServer } from '../../tools/servers/postgres-server.js';
import { findProgram } from '../../tools/servers/program.js';
import { NOBODY } from '../../tools/servers/server-process.js';

/** A pgbouncer before a server. */
export class Pgbouncer extends OwnServer {
  static async start(server: PostgresServer, mode: 'transaction' | 'statement'): Promise<Pgbouncer> {
    const program = await findProgram({
      name: 'pgbouncer',
      files: ['pgbouncer'],
      packages: ['pgbouncer'],
      howToInstall: 'Install it, as with sudo apt-get install pgbouncer.',
    });
    const [dir, port] = [await ownFolder('pgbouncer'), await freePort()];
    const ini = `[databases]
* = host=127.0.0.1 port=${String(server.port)} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
auth_type = any
pool_mode = ${mode}
default_pool_size = 4
`;
    await writeFile(join(dir, 'ini'), ini);
    giveToPostgres(dir);
    const bouncer = new Pgbouncer(program, dir, port, NOBODY);
    await bouncer.up();
    return bouncer;
  }

  override get url(): string {
    return `postgresql://postgres@127.0.0.1:${String(this.port)}/postgres`;
  }

  protected override arguments(): readonly string[] {
    return [join(this.dir, 'ini')];
  }

  protected override async isAnswering(): Promise<boolean> {
    const client = new Client(this.url);
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  }
}
