import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveToPostgres } from '../../tools/servers/postgres-server.js';
import { run } from '../../tools/workspace/command.js';

/** A certificate for 127.0.0.1 that is its own authority, and the arguments of a server that uses it. */
export class TlsCertificate implements AsyncDisposable {
  private constructor(
    private readonly dir: string,
    readonly file: string,
    private readonly keyFile: string,
    readonly pem: string,
  ) {}

  static async create(): Promise<TlsCertificate> {
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-tls-'));
    const [file, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    const forHost = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      keyFile,
      '-out',
      file,
      ...forHost,
    ]);
    for (const path of [dir, file, keyFile]) giveToPostgres(path);
    return new TlsCertificate(dir, file, keyFile, await readFile(file, 'utf8'));
  }

  /** Arguments of a Redis that speaks TLS on `port`, besides its own port without TLS. */
  redisArguments(port: number): string[] {
    const files = ['--tls-cert-file', this.file, '--tls-key-file', this.keyFile, '--tls-ca-cert-file', this.file];
    return ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
  }

  /** Arguments of a PostgreSQL that speaks TLS too. */
  get postgresArguments(): string[] {
    const settings = ['ssl=on', `ssl_cert_file=${this.file}`, `ssl_key_file=${this.keyFile}`];
    return settings.flatMap((setting) => ['-c', setting]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}
