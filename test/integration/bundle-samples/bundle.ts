// bundle.ts
import { build } from 'esbuild';

const clients = ['ioredis', 'pg', 'mysql2'];
// of these, leave out those that you use
const ofNest = ['microservices', 'platform-express', 'websockets'].map((name) => `@nestjs/${name}`);

await build({
  entryPoints: ['dist/main.js'],
  outfile: 'bundle/main.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20',
  keepNames: true,
  external: [...clients, ...ofNest, 'class-transformer', 'class-validator'],
});
