import { describe, expect, it } from '@jest/globals';
import { posix, win32 } from 'node:path';
import { pathOf } from './path-of.js';

describe('The file of SQLite', () => {
  it.each([
    ['sqlite:my%20jobs.db', posix, posix.resolve('my%20jobs.db')],
    ['SQLITE:/var/lib/jobs#1.db', posix, '/var/lib/jobs#1.db'],
    ['sqlite:///var/lib/my%20jobs.db', posix, '/var/lib/my jobs.db'],
    ['sqlite:C:\\data\\jobs.db', win32, 'C:\\data\\jobs.db'],
    ['sqlite:///C:/data/my%20jobs.db', win32, 'C:\\data\\my jobs.db'],
  ])('is by %s', (connection, paths, file) => {
    expect(pathOf(connection, paths)).toBe(file);
  });

  it.each([
    'sqlite:',
    'sqlite:///',
    'sqlite:./data/',
    'sqlite::memory:',
    'sqlite:file:./jobs.db',
    'sqlite://jobs.db',
    'sqlite:./jobs.db?mode=ro',
    'sqlite:///var/lib/jobs.db#1',
    'sqlite:///./jobs.db',
    'sqlite:///../data/jobs.db',
    'sqlite:///jobs.db',
    'sqlite:///var/lib/100%.db',
  ])('is not by %s', (connection) => {
    expect(() => pathOf(connection, posix)).toThrow();
    expect(() => pathOf(connection, win32)).toThrow();
  });
});
