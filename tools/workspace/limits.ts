const FILE = 'tools/size-limits.json';

/** A sentence about each number that is above its limit, has none, or is not counted although it has a limit. */
export function overLimits(
  counted: Readonly<Record<string, number>>,
  limits: Readonly<Record<string, number>>,
): readonly string[] {
  return [...new Set([...Object.keys(counted), ...Object.keys(limits)])].flatMap((name) => {
    const [count, limit] = [counted[name], limits[name]];
    if (count === undefined) return `${name}: has a limit and is not counted. Remove the limit from ${FILE}`;
    if (limit === undefined) return `${name}: must have a limit, got none. Add "${name}": ${String(count)} to ${FILE}`;
    if (count <= limit) return [];
    const above = `must be at most ${String(limit)}, got ${String(count)}, which is ${String(count - limit)} above`;
    const fix = `Take that much away. If a mechanism is worth it, raise the limit in ${FILE} in a commit that names it`;
    return `${name}: ${above}. ${fix}`;
  });
}
