import { causesOf, MAX_CAUSES } from '../errors/message-of.js';

/** A scheme, perhaps user and password, host and port, and what follows. `jdbc:` stands before another scheme. */
const URL_PARTS =
  /^(?<scheme>(?:[a-z][a-z\d+.-]*:){1,2}\/\/)(?<user>[^/?#]*@)?(?<host>(?:\[[\da-f:.]+\]|[\w.-]*)(?::\d{1,5})?)(?<rest>[/?#,;\s].*)?$/is;

const HOST_AND_PORT = /^(?<host>localhost|[a-z\d.-]+:\d{1,5})(?<rest>[,;\s].*)?$/is;

/**
 * What a message may show of a text that was given as a connection, because a password can stand anywhere else: scheme,
 * host and port, and the path of a file. Undefined: nothing.
 */
export function publicPart(given: string): string | undefined {
  const text = given.trim();
  const [file] = /^sqlite:[^?=,;@\s]*/i.exec(text) ?? [];
  if (file !== undefined) return file === text ? file : `${file}…`;
  const { scheme = '', user, host, rest = '' } = (URL_PARTS.exec(text) ?? HOST_AND_PORT.exec(text))?.groups ?? {};
  // a password that has a / or ? in it
  if (host !== undefined && !rest.includes('@'))
    return `${scheme}${user === undefined ? '' : '…@'}${host}${rest.trim() === '' ? '' : `${rest[0]}…`}`;
  const [start] = /^\w[\w+.-]*:\/\//.exec(text) ?? [];
  return start && `${start}…`;
}

/** A field with a secret, as in JSON, a query or a command line, up to the end of its quotes or the next space. */
const FIELD =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|key)\b["']?(?:\s*[=:]\s*|\s+(?<=--\S+\s+)))(?:(["'`])(?:\\.|(?!\2).)*\2|\S+)/gi;

/** Up to the last `@` of its line, where a password has a space. Files of a stack are not meant. */
const URL_IN_TEXT = /(?!file:|node:)\b[a-z][a-z\d+.-]*:\/\/(?:.*@)?\S*/gi;

/** What a client or a function of the user said, without the secrets of URLs and fields. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(URL_IN_TEXT, (url) => publicPart(url) ?? '…').replaceAll(FIELD, '$1…');
}

/**
 * Removes what may be secret from an error of a client, and from those that it wraps: the command that failed, the URL
 * that could not be read, and the same in its texts.
 */
export function removeSecrets(error: unknown, depth = 0): void {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSES) return;
  for (const name of ['command', 'input']) Reflect.deleteProperty(error, name);
  for (const name of ['message', 'stack']) {
    const text: unknown = Reflect.get(error, name);
    if (typeof text === 'string' && withoutSecrets(text) !== text) Reflect.set(error, name, withoutSecrets(text));
  }
  for (const inner of causesOf(error)) removeSecrets(inner, depth + 1);
}
