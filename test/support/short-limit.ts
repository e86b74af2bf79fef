import { jest } from '@jest/globals';

// a unit test waits for nothing but the clock that it sets: what takes this long hangs, even on a busy machine
jest.setTimeout(60_000);
