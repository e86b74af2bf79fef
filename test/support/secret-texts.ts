import fc from 'fast-check';
import { inspect } from 'node:util';

/** A password of some words with other characters between them. No word may be in any message. */
interface Secret {
  readonly text: string;
  readonly words: readonly string[];
}

/** Words that no message has by chance. */
const word = fc.stringMatching(/^zq[a-zA-Z0-9]{4,8}$/);

/** Passwords with these characters between and around their words. */
function secretsWith(characters: string): fc.Arbitrary<Secret> {
  const one = fc.constantFrom(...characters.split(''));
  // what ends a part of a URL comes often alone
  const ends = fc.constantFrom(...':@/?#'.split('').filter((end) => characters.includes(end)));
  const others = fc.oneof(ends, fc.string({ unit: one, maxLength: 3 }));
  return fc.tuple(others, fc.array(fc.tuple(word, others), { minLength: 1, maxLength: 3 })).map(([start, parts]) => ({
    text: start + parts.flat().join(''),
    words: parts.map(([each]) => each),
  }));
}

const HOST = 'cache.internal:6379';

/** A text that has a password, by how the password is written in it. */
const WITH_ANY: Readonly<Record<string, (password: string) => string>> = {
  'a URL': (password) => `redis://app:${password}@${HOST}/0`,
  'a URL without a user': (password) => `rediss://:${password}@${HOST}`,
  'a URL of PostgreSQL': (password) => `postgresql://app:${password}@db/shop?sslmode=require`,
  'a URL of MySQL': (password) => `mysql://app:${password}@db:3306/shop`,
  'a URL of another server': (password) => `mongodb+srv://app:${password}@db/shop`,
  'a query': (password) => `redis://${HOST}/0?password=${password}`,
  'a URL of Java': (password) => `jdbc:postgresql://db/shop?user=app&password=${password}`,
  'a URL without a scheme': (password) => `app:${password}@${HOST}`,
  'fields of StackExchange.Redis': (password) => `${HOST},password=${password},ssl=True`,
  'fields of libpq': (password) => `host=db user=app password=${password}`,
  'fields of .NET': (password) => `Server=db;Database=shop;User Id=app;Password=${password};`,
  'a command line': (password) => `redis-cli -h cache -p 6379 -a ${password}`,
  'options of a command line': (password) => `mysql --host=cache --password ${password} shop`,
  'a variable before a command': (password) => `PGPASSWORD=${password} psql -h db`,
  'a password before a host': (password) => `${password}@cache`,
};

const WITH_QUOTES: typeof WITH_ANY = {
  JSON: (password) => JSON.stringify({ host: 'cache', password }),
  'an object as Node shows it': (password) => inspect({ host: 'cache', password }),
};

/** With one more `@` it would be a URL of another host. */
const WITHOUT_AT: typeof WITH_ANY = { 'a URL without a host': (password) => `redis://app:${password}` };
/** With digits it would be a host and a port. */
const WITHOUT_DIGITS: typeof WITH_ANY = { 'a password alone': (password) => password };

const encoded =
  (spell: (password: string) => string) =>
  (password: string): string =>
    spell(encodeURIComponent(password));

function spelt(forms: typeof WITH_ANY, secrets: fc.Arbitrary<Secret>) {
  return fc.tuple(fc.constantFrom(...Object.values(forms)), secrets).map(([spell, secret]) => {
    return { given: spell(secret.text), words: secret.words };
  });
}

const SIGNS = ':/?#=,;&%+ "\'`{}[]()<>|\\!$.-_';
const ANY = secretsWith(`${SIGNS}@\n1234`);

/** What people give as a connection, with a password in it. */
export const CONNECTION_TEXTS = fc.oneof(
  spelt(WITH_ANY, ANY),
  spelt(WITH_QUOTES, ANY),
  spelt(WITHOUT_AT, secretsWith(`${SIGNS}1234`)),
  spelt(WITHOUT_DIGITS, secretsWith(`${SIGNS}@`)),
);

/** What clients and functions may say, with a password in it. One without quotes has no space. */
export const TEXTS_OF_ERRORS = fc.oneof(
  spelt(WITH_QUOTES, ANY),
  ...['a URL', 'a URL without a user', 'a URL of PostgreSQL', 'a URL of another server', 'a query'].map((name) =>
    spelt({ [name]: encoded(WITH_ANY[name] ?? String) }, ANY),
  ),
  spelt({ 'a URL': WITH_ANY['a URL'] ?? String }, secretsWith(`${SIGNS}@1234`)),
  ...['fields of StackExchange.Redis', 'fields of libpq', 'fields of .NET', 'options of a command line'].map((name) =>
    spelt({ [name]: WITH_ANY[name] ?? String }, secretsWith('@:/?#=,;&%+{}[]()1234')),
  ),
);

/** The words that a text has. */
export function wordsIn(text: string, words: readonly string[]): readonly string[] {
  return words.filter((each) => text.includes(each));
}
