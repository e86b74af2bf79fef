import { attempt } from '../workspace/command.js';
import { type Bug, type Cast, type Catch, type Hunt } from './bug.js';
import { Sandboxes } from './sandbox.js';

/** A story that does not end, because time stands still in it, is ended after this long. */
const LIMIT_MS = 300_000;

/** Plays stories in a process of their own. Rejects where that process breaks. */
export async function huntIn(sandbox: string, hunt: Hunt, cast: Cast = 'library'): Promise<Catch> {
  const args = ['--stack-trace-limit=0', Sandboxes.playerIn(sandbox), JSON.stringify(hunt), JSON.stringify(cast)];
  const { code, output } = await attempt(process.execPath, args, { limitMs: LIMIT_MS });
  if (code === 0) return JSON.parse(output) as Catch;
  throw new Error(`the stories in ${sandbox} did not come to an end\n${output}`);
}

/**
 * Puts a bug into a library of its own and hunts it there. Rejects where the library as it is breaks a promise in the same
 * story: then it is not the bug that was caught.
 */
export async function huntBug(bug: Bug, sandboxes: Sandboxes): Promise<Catch> {
  const found = await huntIn(await sandboxes.spoil(bug), { ...bug.hunt, until: bug.breaks });
  const first = found.broken.find(({ rule }) => rule === bug.breaks);
  if (first === undefined) return found;
  const control = await huntIn(sandboxes.sound, { theme: bug.hunt.theme, first: first.seed, count: 1 });
  if (control.broken.length === 0) return found;
  throw new Error(`the story of seed ${first.seed} breaks a promise without '${bug.name}' as well`);
}
