import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { MYSQL2, PG } from './client-words.js';

const require = createRequire(import.meta.url);

/** The names of the options that the installed `pg` reads. */
function readByPg(): Set<string> {
  const names = new Set<string>();
  new pg.Client(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  // a pool copies its options, so a proxy would see nothing
  const pool = readFileSync(createRequire(require.resolve('pg')).resolve('pg-pool'), 'utf8');
  for (const [, name = ''] of pool.matchAll(/this\.options\.(\w+)/g)) names.add(name);
  // its tests pass one
  names.delete('connection');
  return names;
}

describe('The options of PostgreSQL that are known', () => {
  it('are all that pg reads', () => {
    expect([...PG.options].sort()).toEqual([...readByPg()].sort());
  });
});

describe('The options of MySQL that are known', () => {
  it('are all that mysql2 knows', () => {
    const config = join(dirname(require.resolve('mysql2')), 'lib/connection_config.js');
    const [, list = ''] = /validOptions = \{(.*?)\}/s.exec(readFileSync(config, 'utf8')) ?? [];
    expect([...MYSQL2.options].sort()).toEqual([...list.matchAll(/(\w+): 1/g)].map(([, name]) => name).sort());
  });
});
