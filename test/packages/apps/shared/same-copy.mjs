// A process that imports the package in one place and requires it in another must get one copy of every class.
import { createRequire } from 'node:module';
import * as imported from 'nestjs-singleton-job';

const required = createRequire(import.meta.url)('nestjs-singleton-job');
const names = Object.keys(imported);
const different = names.filter((name) => imported[name] !== required[name]);
if (names.length === 0 || different.length > 0) throw new Error(`two copies: ${different.join(', ') || 'no exports'}`);
console.log(`one copy of ${names.length} exports`);
