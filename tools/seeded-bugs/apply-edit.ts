import { type Edit } from './bug.js';

/** Thrown when the library has moved on and a mistake cannot be made as it was. */
export class BugDoesNotApplyError extends Error {
  override readonly name = 'BugDoesNotApplyError';
}

/** The text with the mistake in it. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const times = text.split(find).length - 1;
  if (times !== 1) {
    throw new BugDoesNotApplyError(
      `${file} must have this text exactly once, and has it ${times} times: change the edit in tools/seeded-bugs along with the library\n${find}`,
    );
  }
  return text.replace(find, () => replace);
}
