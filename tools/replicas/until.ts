import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './busy-machine.js';

/** Asks again and again until the answer is yes, and fails where that takes too long even for a busy machine. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${String(withinMs)} ms in vain: ${what}`);
    await sleep(20);
  }
}
