// `node bundle.mjs esbuild|webpack <file>`: the built application as one file that needs no node_modules.
// `node bundle.mjs guide`: as docs/production/bundlers.md says, with the clients outside.
import { basename, dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/** What Nest loads only where it is installed. */
const ABSENT = [
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
  'class-validator',
];
const ENTRY = './dist/main.js';

const BUNDLERS = {
  async esbuild(outfile) {
    const { build } = await import('esbuild');
    await build({
      entryPoints: [ENTRY],
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      outfile,
      external: ABSENT,
    });
  },
  async webpack(outfile) {
    const { default: webpack } = await import('webpack');
    const isAbsent = (request) => ABSENT.some((name) => request === name || request.startsWith(`${name}/`));
    const stats = await promisify(webpack)({
      // unused code is dropped, as a deployment does it; only minifying is left out, which takes long
      mode: 'production',
      optimization: { minimize: false },
      target: 'node',
      entry: ENTRY,
      output: { path: dirname(resolve(outfile)), filename: basename(outfile) },
      externals: async ({ request }) => (isAbsent(request) ? `commonjs ${request}` : undefined),
      plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
    });
    if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
  },
  async guide() {
    const { default: webpack } = await import('webpack');
    const { default: config } = await import('./webpack.config.mjs');
    const stats = await promisify(webpack)(config);
    if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
  },
};

const [, , bundler, outfile] = process.argv;
await BUNDLERS[bundler](outfile);
