import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CONNECTION_TEXTS, wordsIn } from '../../../../../test/support/secret-texts.js';
import { resolveModuleOptions } from '../resolve-options.js';
import { describeStore } from './describe-connection.js';

/** Where a text may be given that has a password in it. */
const PLACES: Readonly<Record<string, (text: string) => object>> = {
  connection: (connection) => ({ connection }),
  'what a function returns': (text) => ({ connection: () => text }),
  mysql: (mysql) => ({ connection: { mysql } }),
  'mysql.uri': (uri) => ({ connection: { mysql: { uri } } }),
  postgres: (postgres) => ({ connection: { postgres } }),
  'postgres.connectionString': (connectionString) => ({ connection: { postgres: { connectionString } } }),
  nodes: (node) => ({ connection: { nodes: [node] } }),
  url: (url) => ({ connection: { url } }),
  store: (store) => ({ store }),
};

/** What the start says, or where the store is. */
async function said(options: object): Promise<string> {
  return resolveModuleOptions({ projectName: 'shop', ...options }).then(
    (resolved) => String(describeStore(resolved)),
    (error: unknown) => String(error),
  );
}

it.each(Object.entries(PLACES))(
  'The start shows no password of a text that is given as %s',
  async (_place, optionsFor) => {
    await fc.assert(
      fc.asyncProperty(CONNECTION_TEXTS, async ({ given, words }) => {
        // a node may be the name of a host
        fc.pre(!/^[\w.-]+:?$/.test(given));
        expect(wordsIn(await said(optionsFor(given)), words)).toEqual([]);
      }),
    );
  },
);
