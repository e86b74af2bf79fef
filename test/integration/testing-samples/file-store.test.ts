import { randomUUID } from 'node:crypto';
import { copyFile, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FileStore } from './file-store.js';
import { describeStore } from 'nestjs-singleton-job/testing';

describeStore(
  { describe, it },
  {
    name: 'the store in files',
    makeFixture: () => {
      const folder = join(tmpdir(), `file-store-${randomUUID()}`); // your server, with two projects
      const [project, other] = [join(folder, 'shop'), join(folder, 'other')];
      let behindMs = 0;
      const newStore = (of: string) => new FileStore(of, () => Date.now() - behindMs);
      const versions = async () => (await readdir(project)).filter((name) => name.endsWith('.json'));
      return {
        newStore: () => newStore(project), // a connection of its own
        newStoreOfOtherProject: () => newStore(other),
        // as a copy of the folder has it
        restart: async () => {
          await copyFile(join(project, 'server'), join(project, 'copy'));
          await rename(join(project, 'copy'), join(project, 'server'));
        },
        loseData: async () => {
          for (const name of await versions()) await rm(join(project, name));
        },
        corrupt: async (name) => {
          const newest = Math.max(...(await versions()).map((file) => parseInt(file, 10)));
          const state = JSON.parse(await readFile(join(project, `${newest}.json`), 'utf8')) as { records: unknown[] };
          state.records.push([name, 'of another program']);
          await writeFile(join(project, `${newest + 1}.json`), JSON.stringify(state));
        },
        setClockBack: async (ms) => {
          behindMs += ms;
        },
        end: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
);
