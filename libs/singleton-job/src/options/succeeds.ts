/** Whether it throws nothing: some functions say only by an error that they do not take a value. */
export function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
