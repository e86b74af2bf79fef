/**
 * `did you mean 'x'?` for the candidate that `word` is probably a misspelling of, with `before` in front of it.
 * `fallback`: none is close.
 */
export function didYouMean(word: string, candidates: Iterable<string>, fallback: string, before = ''): string {
  let closest: string | undefined;
  let maxEdits = Math.max(2, Math.floor(word.length / 3));
  for (const candidate of candidates) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    // a short word is within two edits of any other short word
    const isSimilar = 2 * edits <= Math.min(word.length, candidate.length);
    if (isSimilar && edits <= maxEdits) [closest, maxEdits] = [candidate, edits - 1];
  }
  return closest === undefined ? fallback : `did you mean '${before}${closest}'?`;
}

/** How many letters must be inserted, removed or replaced. */
export function editDistance(from: string, to: string): number {
  const edits = (row: readonly number[], column: number): number => row[column] ?? Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const letter of from) {
    const above = row;
    row = [];
    for (const [column, removed] of above.entries()) {
      const replaced = edits(above, column - 1) + (letter === to[column - 1] ? 0 : 1);
      row.push(Math.min(removed + 1, edits(row, column - 1) + 1, replaced));
    }
  }
  return edits(row, to.length);
}
