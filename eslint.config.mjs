import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importX from 'eslint-plugin-import-x';
import { readdirSync } from 'node:fs';
import tseslint from 'typescript-eslint';
import { LAYERS } from './eslint.layers.mjs';

const SRC = './libs/singleton-job/src';

/** Folders, and files at the root. */
const NAMES = Object.keys(LAYERS);

for (const { name } of readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  if (!NAMES.includes(name))
    throw new Error(`${SRC}/${name} is in no layer: say in eslint.layers.mjs what it may import`);
}

const layerZones = NAMES.map((name) => ({
  target: `${SRC}/${name.endsWith('.ts') ? name : `${name}/**/!(*.spec).ts`}`,
  from: SRC,
  except: [name, ...LAYERS[name]].map((allowed) => `./${allowed}`),
  message: `${name} may import only ${[...LAYERS[name], 'itself'].join(', ')} (ARCHITECTURE.md, "Import rule").`,
}));

/** The same rule for the folders around the library. */
const workspaceZones = [
  {
    target: './tools/**',
    from: ['./test', './bench', './apps'],
    message: 'tools/ may import only itself and the library: tests and measurements are built on it.',
  },
  {
    target: ['./libs/**', './apps/**', './bench/**', './test/!(simulation|faults)/**'],
    from: ['./test/simulation', './test/faults'],
    message: 'Nothing else imports test/simulation/ and test/faults/.',
  },
  {
    target: './bench/**',
    from: ['./test', './apps'],
    message: 'bench/ measures the packed library and may import only tools/ besides.',
  },
  { target: './test/**', from: './bench', message: 'test/ may not import bench/, which is a package of its own.' },
];

/** The library imports nothing of the workspace around it, and its specs only test/support/. */
const libraryZones = [
  ...['test', 'tools', 'apps', 'bench'].map((folder) => ({
    target: './libs/**/!(*.spec).ts',
    from: `./${folder}`,
    message: 'The library imports only libs/.',
  })),
  {
    target: './libs/**/*.spec.ts',
    from: ['./test/!(support)/**', './tools/**', './apps/**', './bench/**'],
    message: 'The specs of the library import only libs/ and test/support/.',
  },
];

/** The only files of the library that know Nest. */
const NEST_BORDER = [
  'libs/singleton-job/src/nest/**',
  'libs/singleton-job/src/options/config.ts',
  'libs/singleton-job/src/opentelemetry/**',
];

/** Packages that the library uses, and the only files that load them: all others may import their types. */
const LOADED_BY = {
  'cron-parser': 'schedule/cron/read-field.ts',
  ioredis: 'store/redis/redis-clients.ts',
  mysql2: 'store/mysql/mysql-client.ts',
  pg: 'store/postgres/postgres-client.ts',
  '@opentelemetry/*': 'opentelemetry/**',
  '@nestjs/config': 'options/config.ts',
  '@nestjs/terminus': 'nest/terminus.ts',
};

/** Refuses to load all of these packages in `files`, except for `own`. */
function packageRule(files, own) {
  const others = Object.keys(LOADED_BY).filter((name) => name !== own);
  return {
    files: [`libs/singleton-job/src/${files}`],
    ignores: ['**/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: others.map((name) => ({
            group: [name],
            allowTypeImports: true,
            message: `Only ${LOADED_BY[name]} loads it: import its types.`,
          })),
        },
      ],
    },
  };
}

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '.cache/**',
      'coverage/**',
      'test/packages/apps/**',
      // a package of its own: `npm run reports -- test` installs it, and lints it
      ...(process.env.LINT_REPORTS === undefined ? ['apps/reports/**'] : []),
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    settings: {
      'import-x/resolver-next': [createTypeScriptImportResolver({ project: './tsconfig.json' })],
    },
    rules: {
      'import-x/no-default-export': 'error',
      'import-x/order': [
        'error',
        {
          groups: [
            ['builtin', 'external'],
            ['parent', 'sibling', 'index'],
          ],
          alphabetize: { order: 'asc', caseInsensitive: true },
        },
      ],
      'import-x/no-restricted-paths': ['error', { zones: [...layerZones, ...libraryZones, ...workspaceZones] }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowEmpty: true, allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-console': 'error',
      // prettier wraps code only
      'max-len': ['error', { code: 999, comments: 120, ignorePattern: '@example|eslint-' }],
    },
  },
  {
    files: ['libs/singleton-job/src/**/*.ts'],
    ignores: [...NEST_BORDER, '**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [{ group: ['@nestjs/*'], message: 'Only the files at the border import Nest (ARCHITECTURE.md).' }],
        },
      ],
    },
  },
  packageRule('**/*.ts'),
  ...Object.entries(LOADED_BY).map(([name, files]) => packageRule(files, name)),
  {
    files: ['apps/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(\\.\\./)+(libs|test|tools|bench)/',
              message: "Of this repository an application knows the package 'nestjs-singleton-job' alone.",
            },
          ],
        },
      ],
    },
  },
  {
    files: ['apps/reports/**/*.ts'],
    languageOptions: { parserOptions: { project: './apps/reports/tsconfig.json' } },
    settings: {
      'import-x/resolver-next': [createTypeScriptImportResolver({ project: './apps/reports/tsconfig.json' })],
    },
  },
  {
    // the runner of Node waits for tests and suites itself
    files: ['apps/reports/test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['it', 'describe', 'test', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  {
    // jest calls its global set-up by the default export
    files: ['test/support/build-applications.ts'],
    rules: { 'import-x/no-default-export': 'off' },
  },
  {
    // programs that people start
    files: ['tools/**/*.ts', 'bench/**/*.ts', 'test/simulation/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', 'apps/reports/test/**/*.ts'],
    rules: {
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
    },
  },
);
