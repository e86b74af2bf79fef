import { constants } from 'node:os';

/** Why the demo ended before its end. */
export class EndedEarly extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Fires when somebody wants the demo to end: by Ctrl-C, by a signal, or by closing what it prints to. */
export function ending(): AbortController {
  const controller = new AbortController();
  for (const signal of SIGNALS) {
    // stays, so that an impatient second Ctrl-C does not cut the clean-up short
    process.on(signal, () => {
      controller.abort(new EndedEarly(`ended by ${signal}`, 128 + constants.signals[signal]));
    });
  }
  process.stdout.on('error', () => {
    controller.abort(new EndedEarly('nobody reads what the demo prints', 128 + constants.signals.SIGPIPE));
  });
  return controller;
}
