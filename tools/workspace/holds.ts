/** Prints whether a check passed, after how long, and why it failed. */
export async function holds(rule: string, check: () => Promise<unknown>): Promise<boolean> {
  const startedAt = performance.now();
  const failure = await check().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof Error) console.error(failure.message);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${rule} (${seconds} s)`);
  return failure === undefined;
}
