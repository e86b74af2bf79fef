import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebian } from './debian-packages.js';

let found: Promise<string> | undefined;

/**
 * The variables of a process whose wall clock is so far ahead, or behind if it is negative, whatever it is written in.
 * Its timers are right.
 */
export async function wrongClock(aheadS: number): Promise<Readonly<Record<string, string>>> {
  found ??= findLibrary();
  // the allocator of Debian's Redis reads the clock before libfaketime is ready, so that of the system comes first
  const preload = `${await found}:libc.so.6`;
  const offset = `${aheadS < 0 ? '' : '+'}${String(aheadS)}s`;
  return { LD_PRELOAD: preload, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** Of libfaketime, for programs with threads. */
async function findLibrary(): Promise<string> {
  const library = libraryIn('/') ?? libraryIn((await unpackDebian('faketime', ['libfaketime'])) ?? '/');
  if (library === undefined) throw new Error('No libfaketime. Install it: sudo apt-get install libfaketime');
  return library;
}

function libraryIn(root: string): string | undefined {
  const folder = join(root, 'usr/lib');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name, 'faketime/libfaketimeMT.so.1')).find((path) => existsSync(path));
}
