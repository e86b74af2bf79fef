/**
 * The wall clock of this replica: that of the machine, off by as much as the test says. Loaded before everything else,
 * so that nobody keeps hold of the true one.
 */
const trueNow = Date.now;
let aheadMs = 0;

Date.now = () => trueNow() + aheadMs;

export function stepWallClock(byMs: number): void {
  aheadMs += byMs;
}
