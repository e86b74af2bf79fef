import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveToPostgres } from '../../tools/servers/postgres-server.js';

/** A certificate for 127.0.0.1 that is its own authority, until 2049, and its key. */
const FILES = join(import.meta.dirname, 'tls');

/** It, and the arguments of a server that uses it. */
export class TlsCertificate implements AsyncDisposable {
  private constructor(
    private readonly dir: string,
    readonly pem: string,
  ) {}

  static async create(): Promise<TlsCertificate> {
    // a server takes no key that others can read
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-tls-'));
    await cp(FILES, dir, { recursive: true });
    const certificate = new TlsCertificate(dir, await readFile(join(FILES, 'certificate.pem'), 'utf8'));
    await chmod(certificate.#keyFile, 0o600);
    for (const path of [dir, certificate.file, certificate.#keyFile]) giveToPostgres(path);
    return certificate;
  }

  get file(): string {
    return join(this.dir, 'certificate.pem');
  }

  get #keyFile(): string {
    return join(this.dir, 'key.pem');
  }

  /** Arguments of a Redis that speaks TLS on `port`, besides its own port without TLS. */
  redisArguments(port: number): string[] {
    const files = ['--tls-cert-file', this.file, '--tls-key-file', this.#keyFile, '--tls-ca-cert-file', this.file];
    return ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
  }

  /** Arguments of a PostgreSQL that speaks TLS too. */
  get postgresArguments(): string[] {
    const settings = ['ssl=on', `ssl_cert_file=${this.file}`, `ssl_key_file=${this.#keyFile}`];
    return settings.flatMap((setting) => ['-c', setting]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}
