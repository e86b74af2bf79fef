import { isObject } from '../base/text/describe-value.js';
import { valueFix } from './values.js';

export const URLS = {
  redis: "'redis://host:6379'",
  postgres: "'postgresql://user:password@host/database'",
  mysql: "'mysql://user:password@host/database'",
  sqlite: "'sqlite:./jobs.db'",
} as const;

const PG_OPTIONS = '{ postgres: { host, user, password, database } }';
const MYSQL_OPTIONS = '{ mysql: { host, user, password, database } }';
const SEVERAL_NODES =
  "for a cluster write { nodes: ['redis://a', 'redis://b'] }, for Sentinel { sentinels: [{ host, port }], name: 'mymaster' }";

/** What to write in place of a connection, or of a part of one, by its form. Undefined: it has none that is known. */
export function connectionFix(value: unknown): string | undefined {
  const fix = valueFix(value);
  if (fix !== undefined || value === '') return fix;
  if (Array.isArray(value) && value.length > 0) return SEVERAL_NODES;
  return typeof value === 'string' ? textFix(value) : isObject(value) ? objectFix(value) : undefined;
}

/** The groups of a pattern stand in the sentence. None of them may have a secret in it. */
const FORMS: readonly (readonly [form: RegExp, sentence: string])[] = [
  [/^(?<host>[\w.-]+:\d+),.*ssl=true/is, "write 'rediss://:KEY@{host}', the key by encodeURIComponent()"],
  [/^(?<host>[\w.-]+:\d+),.*password=/is, "write 'redis://:KEY@{host}', the key by encodeURIComponent()"],
  [/^(host|hostaddr|user|dbname|password|port|sslmode)\s*=/i, `these are fields of libpq: write ${URLS.postgres}`],
  [/^[a-z ]+=[^;]*;/i, `these are fields of .NET: write a URL, such as ${URLS.postgres} or ${URLS.mysql}`],
  [/^jdbc:/i, 'leave out jdbc:, and put user and password before the host, as in //user:password@host'],
  [/^(redis|valkey)-cli\s/, `this is a command: write ${URLS.redis}`],
  [/^(psql|mysql|mariadb)\s/, `this is a command: write ${URLS.postgres} or ${URLS.mysql}`],
  [
    /^postgres(ql)?:\/\/(.*@)?[^/@,]+,(?!.*@)/i,
    'it names several hosts, and pg takes one: name the primary, or a proxy that leads to it',
  ],
  [
    /^(mysql|mariadb):\/\/(.*@)?[^/@,]+,(?!.*@)/i,
    'it names several hosts, and mysql2 takes one: name the primary, or a proxy that leads to it',
  ],
  [/^rediss?:\/\/(.*@)?[^/@,]+,(?!.*@)/i, SEVERAL_NODES],
  [/^rediss?:.*[?&]password=[^&]*\+/i, 'write it as %2B, because + is a space there'],
  [/^(sqlite:)?:?memory:?$/i, "set store: 'memory' for one process, as no other one would see it"],
  [/^sqlite:\/\/\/(?<path>\.{1,2}\/[\w./-]+)$/i, "write 'sqlite:{path}'"],
  [
    /^sqlite:\/\/\/(?<path>[\w.-]+)$/i,
    "write 'sqlite:./{path}' for the working directory, or 'sqlite:/{path}' for the root of the disk",
  ],
  [/\.sock$/, 'write { path } for a socket of Redis'],
  [/^redis\+(tls|ssl):/i, 'write rediss:// in its place'],
  [/^(?<scheme>rediss?|postgres(ql)?|mysql|mariadb)\+\w+:/i, 'leave out the driver, as in {scheme}://'],
  [/^rediss?:\/\/(.*@)?[\da-f]*:[\da-f]*:(?!.*@)/i, "put an address of IPv6 into brackets, as in 'redis://[::1]:6379'"],
  [/^(?<scheme>rediss?|postgres(ql)?|mysql|mariadb):(\/?|\/{3,})\w/i, 'write {scheme}:// in front of the host'],
  [/^(file:|sqlite3:|\.{0,2}\/)|^[\w-]+\.(db|sqlite3?)$/i, `write ${URLS.sqlite}, with sqlite: in front`],
  [/^(?<host>[a-z\d.-]+:5432)$/i, "write 'postgresql://user:password@{host}/database'"],
  [/^(?<host>[a-z\d.-]+:3306)$/i, "write 'mysql://user:password@{host}/database'"],
  [/^(?<host>localhost|[a-z\d.-]+:\d+)$/i, "write 'redis://{host}'"],
];

function textFix(text: string): string | undefined {
  for (const [form, sentence] of FORMS) {
    const match = form.exec(text);
    if (match !== null)
      return sentence.replaceAll(/\{(host|path|scheme)\}/g, (_, name: string) => match.groups?.[name] ?? '');
  }
  return undefined;
}

/** Of TypeORM, Sequelize, Knex and MikroORM: which database it is. */
const KIND_ELSEWHERE = ['type', 'dialect', 'client', 'provider'];

function objectFix(value: Readonly<Record<string, unknown>>): string | undefined {
  if (value instanceof URL) return 'pass its href';
  if (value instanceof Promise) return 'await it, or pass the function that makes it';
  if ('sendCommand' in value && 'isOpen' in value) return `take one of ioredis, or write its URL, as in ${URLS.redis}`;
  if ('totalCount' in value) return 'write { postgres: pool }';
  if ('getConnection' in value) return `a pool of mysql2 is not used: write ${MYSQL_OPTIONS}`;
  const inner = ['connection', 'redis'].find((name) => isObject(value[name]));
  if (inner !== undefined) return `leave out the inner ${inner}, as in connection: { host, port }`;
  if ('sqlite' in value || 'filename' in value) return `write ${URLS.sqlite}`;
  const options = isObject(value['options']) ? value['options'] : value;
  const kind = KIND_ELSEWHERE.map((name) => String(options[name])).join(' ');
  if (/\b(better-)?sqlite|\bsqljs/.test(kind)) return `write ${URLS.sqlite}`;
  if (/\b(pg|postgres|cockroach)/.test(kind)) return `write ${PG_OPTIONS}`;
  return /\b(mysql|mariadb)/.test(kind) ? `write ${MYSQL_OPTIONS}` : undefined;
}
