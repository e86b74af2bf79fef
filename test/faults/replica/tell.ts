import { writeSync } from 'node:fs';
import { readOrder } from './order.js';

/** The pipe that all replicas of a test share: the kernel keeps the order in which they wrote. */
const WITNESS = 3;
/** One write of a line this long is never mixed with another's, on any system. */
const LONGEST_LINE = 500;

const { name } = readOrder();

/** Tells the witness, and returns when the kernel has it: also what happens to this process right after cannot unsay it. */
export function tell(event: string, facts: object = {}): void {
  const monoMs = Number(process.hrtime.bigint()) / 1e6;
  const line = JSON.stringify({ replica: name, event, monoMs, wallMs: Date.now(), ...facts });
  if (line.length < LONGEST_LINE) writeSync(WITNESS, `${line}\n`);
  else writeSync(WITNESS, `${JSON.stringify({ replica: name, event, monoMs, wallMs: Date.now() })}\n`);
}
