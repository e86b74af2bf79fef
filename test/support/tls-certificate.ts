import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveToPostgres } from '../../tools/servers/postgres-server.js';

const DAY_MS = 86_400_000;

/** A certificate for 127.0.0.1 that is its own authority, and the arguments of a server that uses it. */
export class TlsCertificate implements AsyncDisposable {
  private constructor(
    private readonly dir: string,
    readonly pem: string,
  ) {}

  static async create(): Promise<TlsCertificate> {
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-tls-'));
    const { pem, key } = selfSigned();
    const certificate = new TlsCertificate(dir, pem);
    await writeFile(certificate.file, pem);
    await writeFile(certificate.#keyFile, key, { mode: 0o600 });
    for (const path of [dir, certificate.file, certificate.#keyFile]) giveToPostgres(path);
    return certificate;
  }

  get file(): string {
    return join(this.dir, 'cert.pem');
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

/** X.509 in DER, written by hand: neither Node nor the tests bring a tool that makes certificates. */
function selfSigned(): { readonly pem: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const oid = (...bytes: number[]): Buffer => der(0x06, Buffer.from(bytes));
  const ecdsaWithSha256 = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const commonName = der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('127.0.0.1')));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS));
  const addresses = der(0x30, der(0x87, Buffer.from([127, 0, 0, 1])));
  const subjectAltName = der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, addresses));
  const isAuthority = der(0x30, oid(0x55, 0x1d, 0x13), der(0x04, der(0x30, der(0x01, Buffer.from([0xff])))));
  const content = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, subjectAltName, isAuthority)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = der(0x30, content, ecdsaWithSha256, signature)
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n');
  return {
    pem: `-----BEGIN CERTIFICATE-----\n${base64.trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** One value: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** UTCTime, with two digits of the year. */
function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
