import { type Fault, safetyMarginMs, type Setting } from './plan.js';
import { type Window } from './rules.js';

/** A window that begins when its fault strikes, or for `fall-back` when the writes are lost. */
export type WindowOfFault = Omit<Window, 'fromMs' | 'untilMs' | 'process'> & { readonly forMs: number };

/** What a fault lets happen that the promises exclude, and for how long. Of a fault of a process: in that process alone. */
export function windowsOf(fault: Fault, setting: Setting): readonly WindowOfFault[] {
  const { lockExpiryMs, heartbeatIntervalMs, misfireGraceMs } = setting;
  // an old leader asks at its next heartbeat, and its lease ends in any case
  const leaseMs = lockExpiryMs + heartbeatIntervalMs;
  const lock = (forMs: number): WindowOfFault => ({ rules: ['ended-lease', 'two-leaders'], forMs });
  // an occurrence whose claim is lost may start for as long as its grace lets it
  const claim = (forMs: number): WindowOfFault => ({ rules: ['started-twice'], forMs: forMs + misfireGraceMs });
  switch (fault.kind) {
    case 'data-loss':
      return [lock(fault.forMs + leaseMs), claim(fault.forMs + leaseMs)];
    case 'fall-back':
      return [lock(fault.downForMs + leaseMs), claim(fault.downForMs + leaseMs)];
    case 'lock-deleted':
      return [{ ...lock(leaseMs), job: fault.job }];
    case 'state-deleted':
      return [{ ...claim(leaseMs), job: fault.job }];
    case 'store-clock-step':
      return fault.byMs > 0 ? [lock(leaseMs)] : [];
    case 'pause':
      // its signal fires when it goes on, and then its run settles
      return [{ rules: ['two-leaders'], forMs: fault.forMs + safetyMarginMs(lockExpiryMs) }];
    case 'suspend':
      // it knows only from the next answer how long it slept
      return [{ rules: ['two-leaders'], forMs: fault.forMs + leaseMs }];
    // what a lease is made for
    case 'kill':
    case 'crash':
    case 'stop':
    case 'step-down':
    case 'clock-step':
    case 'weather':
    case 'weather-for-all':
    case 'store-hangs':
      return [];
  }
}
