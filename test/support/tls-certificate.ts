import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate for 127.0.0.1 that is its own authority, made by `openssl`, and the arguments of a Redis that uses it. */
export class TlsCertificate implements AsyncDisposable {
  private constructor(
    private readonly dir: string,
    readonly pem: string,
  ) {}

  static async create(): Promise<TlsCertificate> {
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-tls-'));
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const keyType = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key];
    await run('openssl', ['req', '-x509', '-days', '2', ...keyType, '-out', cert, ...subject]);
    return new TlsCertificate(dir, await readFile(cert, 'utf8'));
  }

  /** For a process: the value of NODE_EXTRA_CA_CERTS. */
  get file(): string {
    return join(this.dir, 'cert.pem');
  }

  /** Arguments of a Redis that speaks TLS on `port`, besides its own port without TLS. */
  redisArguments(port: number): string[] {
    const files = ['--tls-cert-file', this.file, '--tls-key-file', join(this.dir, 'key.pem')];
    return ['--tls-port', String(port), ...files, '--tls-ca-cert-file', this.file, '--tls-auth-clients', 'no'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}
