import { describeUrl, describeValue, isRecord } from '../base/text/describe-value.js';
import { OptionReader, type Place } from './option-reader.js';
import { matching, password } from './readers.js';

const URL_FIX = "write it as 'postgresql://user:password@host:5432/database'";
const PASSWORD_FIX =
  'write connection itself as a function, which is called for each new client, ' +
  'as in connection: async () => ({ postgres: { host, password: await token() } })';
const IN_STRING = "set connectionString, as in { postgres: { connectionString: 'postgresql://host/database' } }";

/** Checks the URL of a PostgreSQL. No message repeats its password. */
export function checkPostgresUrl(text: string, at: Place): void {
  const [, credentials = ''] = /^\w+:\/\/(.*)@/s.exec(text) ?? [];
  const got = describeValue(describeUrl(text));
  if (/%(?![\da-f]{2})/i.test(credentials) || /[#/?]/.test(credentials)) {
    at.note(
      `must have no #, /, ? or single % before the '@', got ${got} with one: encode user and password with encodeURIComponent()`,
    );
  } else if (!URL.canParse(text) || !text.includes('://')) {
    at.note(`must be a URL, got ${got}: ${URL_FIX}`);
  }
}

const CONFIG = {
  connectionString: { read: matching(isUrl, 'a postgresql:// URL', URL_FIX) },
  host: {
    read: matching(isText, 'the name or address of a host', "give it a value such as 'localhost', or leave it out"),
  },
  port: {
    read: matching(
      isPort,
      'a port from 1 to 65535',
      'give it a value such as 5432, or leave it out; Number(undefined) is NaN',
    ),
  },
  password: { read: password(PASSWORD_FIX) },
} as const;

/** Checks `{ postgres }`: options of `pg`, which has many others, or a pool. */
export function checkPostgres(raw: Readonly<Record<string, unknown>>, at: Place): void {
  const { postgres, ...others } = raw;
  for (const name of Object.keys(others))
    at.in(name).note('has no effect here: put options of pg into postgres, and schema and migrate beside connection');
  const place = at.in('postgres');
  if (!isRecord(postgres)) {
    place.refuse(
      postgres,
      'options of pg, or a Pool of pg',
      `${URL_FIX} in place of the object, or pass { host, user, password, database }`,
    );
    return;
  }
  if (postgres['ended'] === true || postgres['ending'] === true) {
    place.note('must not have ended, got a Pool after end(): pass its options, or end it after the application');
  }
  const isPool = typeof postgres['connect'] === 'function';
  const config = isPool ? postgres['options'] : postgres;
  if (!isRecord(config)) {
    place.note(
      'must be a Pool of pg, got an object with connect() and without options: pass the options of a client instead',
    );
    return;
  }
  for (const name of ['url', 'uri'].filter((key) => config[key] !== undefined))
    place.in(name).note(`is no option of pg, which would connect to localhost: ${IN_STRING}`);
  const values = Object.fromEntries(Object.keys(CONFIG).map((key) => [key, config[key] ?? undefined]));
  new OptionReader({ raw: values, prefix: `${place.path}.` }, at.problems).read(CONFIG);
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && /^(postgres(ql)?|socket):/i.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !/[@]|:\/\//.test(value);
}

function isPort(value: unknown): value is number | string {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;
}
