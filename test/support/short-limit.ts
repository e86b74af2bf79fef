import { jest } from '@jest/globals';

// a unit test waits for nothing but the clock that it sets
jest.setTimeout(20_000);
