/** The candidate that `word` is probably a misspelling of; undefined if none is close. */
export function suggest(
  word: string,
  candidates: Iterable<string>,
  mostEdits = Math.max(2, Math.floor(word.length / 3)),
): string | undefined {
  const lowered = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = mostEdits + 1;
  for (const candidate of candidates) {
    // a short word is within two edits of any other short word
    if (Math.min(lowered.length, candidate.length) <= 2) continue;
    const distance = editDistance(lowered, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `did you mean 'x'?`, or `fallback` if nothing is close. */
export function didYouMean(word: string, candidates: Iterable<string>, fallback: string): string {
  const close = suggest(word, candidates);
  return close === undefined ? fallback : `did you mean '${close}'?`;
}

/** How many letters must be inserted, removed or replaced. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
