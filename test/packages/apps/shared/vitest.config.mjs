/** The same tests as those of jest. */
export default {
  resolve: { alias: { '@jest/globals': 'vitest' } },
  test: { include: ['src/**/*.spec.ts'], testTimeout: 60_000 },
};
