import { fileURLToPath } from 'node:url';

/** The same tests as those of jest. */
export default {
  resolve: { alias: { '@jest/globals': fileURLToPath(new URL('vitest-as-jest.mjs', import.meta.url)) } },
  test: { include: ['src/**/*.spec.ts'], testTimeout: 60_000 },
};
