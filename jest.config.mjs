import { isBuiltin } from 'node:module';
import { availableParallelism } from 'node:os';

const swc = [
  '@swc/jest',
  {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      target: 'es2023',
      keepClassNames: true,
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^nestjs-singleton-job/config$': '<rootDir>/libs/singleton-job/src/options/config.ts',
    '^nestjs-singleton-job/store$': '<rootDir>/libs/singleton-job/src/store/store.ts',
    '^nestjs-singleton-job/terminus$': '<rootDir>/libs/singleton-job/src/nest/terminus.ts',
    '^nestjs-singleton-job/current-run$': '<rootDir>/libs/singleton-job/src/runs/current-run.ts',
    '^nestjs-singleton-job/(.*)$': '<rootDir>/libs/singleton-job/src/$1/index.ts',
    '^nestjs-singleton-job$': '<rootDir>/libs/singleton-job/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': swc },
  // apps/reports is a package of its own with tests of its own
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/apps/reports/'],
};

// `npm run test:sqlite` and `test:sqlite:faults` run them on a Node that has it
const withoutSqlite = isBuiltin('node:sqlite') ? [] : ['sqlite'];

/** Every project is one kind of test. `npm test` runs all but the faults. */
export default {
  // A test that waits says for how long, and for what. This ends what waits for nothing. It is longer than all that a test may wait for on a
  // busy machine, or that the first start of a Redis takes to fetch it.
  testTimeout: 300_000,
  // most specs wait more than they compute
  maxWorkers: Math.max(4, availableParallelism()),
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/tools'],
      testMatch: ['**/*.spec.ts'],
      setupFilesAfterEnv: ['<rootDir>/test/support/short-limit.ts'],
    },
    {
      ...shared,
      displayName: 'simulation',
      testMatch: ['<rootDir>/test/simulation/**/*.spec.ts'],
    },
    { ...shared, displayName: 'docs', testMatch: ['<rootDir>/test/docs/**/*.spec.ts'] },
    { ...shared, displayName: 'types', testMatch: ['<rootDir>/test/types/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'contract',
      testMatch: ['<rootDir>/test/contract/**/*.spec.ts'],
      testPathIgnorePatterns: withoutSqlite,
    },
    { ...shared, displayName: 'integration', testMatch: ['<rootDir>/test/integration/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'processes',
      testMatch: ['<rootDir>/test/processes/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/support/build-applications.ts',
    },
    {
      ...shared,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.spec.ts'],
      testPathIgnorePatterns: withoutSqlite,
      globalSetup: '<rootDir>/test/support/build-applications.ts',
    },
  ],
};
