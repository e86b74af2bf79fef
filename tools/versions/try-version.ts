import { Application } from '../packages/application.js';
import { SERVERS } from '../servers/servers.js';
import { npm, run } from '../workspace/command.js';
import { folderOf, VERSIONS } from './versions.js';

/** `try-version.ts NAME TARBALL`: a process of its own, because a process finds each server once. */
const [name = '', tarball = ''] = process.argv.slice(2);
const { app = 'nest-12-esm', packages = [], fetch, stores, specs = [] } = VERSIONS[name] ?? { stores: [] };
const { runtime = process.execPath, env = {} } = (await fetch?.(folderOf(name))) ?? {};
Object.assign(process.env, env);

await using application = await Application.install(app, tarball, packages);
await application.npm(['run', 'build']);
for (const kind of stores) {
  if (kind === 'sqlite') {
    await handOver('sqlite:./jobs.db');
    continue;
  }
  await using server = await SERVERS[kind]();
  console.log(`${name}: ${server.source}`);
  // Debian may have moved on
  if (specs.length > 0 && !server.source.match(`[ =(]${/\d+/.exec(name)?.[0] ?? ''}\\.`))
    throw new Error(`${server.source} is not ${name}`);
  await handOver(server.url);
}
for (const args of specs) {
  await npm(['run', '--silent', 'jest', '--', '--ci', ...args], { isShown: true }).catch((error: unknown) => {
    process.exitCode = 1;
    console.log(String(error));
  });
}

async function handOver(url: string): Promise<void> {
  await run(runtime, ['hand-over.mjs'], { cwd: application.cwd, env: { STORE_URL: url }, isShown: true });
}
