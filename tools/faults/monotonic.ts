/** The monotonic clock of the machine, the same one for all processes on it. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
