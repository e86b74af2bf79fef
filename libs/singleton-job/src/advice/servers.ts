import { URLS } from './connections.js';

/** Which server it is, by the first thing that it says to a client that has not logged in. */
const SERVERS: readonly (readonly [answer: RegExp, name: string, fix: string])[] = [
  // its greeting has a length of three bytes, a zero, and the version of the protocol or 0xff for an error
  [/^...\0[\n\xff]/s, 'MySQL', `write ${URLS.mysql}`],
  [/^[SN]$/, 'PostgreSQL', `write ${URLS.postgres}`],
  [/^[+-]/, 'Redis', `write ${URLS.redis}`],
  [/^HTTP\//, 'HTTP', 'this is no database'],
];

/** Where a `store` was looked for, and another server answers. Undefined: none that is known. */
export function otherServer(store: string, answer: string): string | undefined {
  const [, name = store, fix = ''] = SERVERS.find(([form]) => form.test(answer)) ?? [];
  return name === store ? undefined : `a server at this port speaks ${name}: ${fix}, or check host and port`;
}
