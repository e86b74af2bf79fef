import { type Clock, type Timer } from '../../libs/singleton-job/src/time/index.js';

/** The clock of one replica: the common time, with a wall clock that is off by as much as the test says. */
export class SkewedClock implements Clock {
  /** How far this wall clock is ahead. */
  aheadMs = 0;

  constructor(private readonly common: Clock) {}

  now(): number {
    return this.common.now();
  }

  wallNow(): number {
    return this.common.wallNow() + this.aheadMs;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    return this.common.setTimer(delayMs, fire);
  }

  afterIo(): Promise<void> {
    return this.common.afterIo();
  }
}
