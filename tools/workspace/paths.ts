import { join } from 'node:path';

/** The root of the checkout, wherever a tool was started from. */
export const ROOT = join(import.meta.dirname, '../..');

export const LIBRARY = join(ROOT, 'libs/singleton-job');
export const DIST = join(ROOT, 'dist');

/** What `tsc` makes of the library, one folder per module format. */
export const LIBRARY_BUILD = join(DIST, 'libs/singleton-job');
