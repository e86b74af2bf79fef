import { type JobObserver } from '../../libs/singleton-job/src/base/events/observer.js';
import { operatorLog } from '../../libs/singleton-job/src/log/operator-log.js';

/** The log of one replica as an operator reads it: `lines` from warnings on, `details` at debug. */
interface KeptLog {
  readonly observer: JobObserver;
  readonly lines: readonly string[];
  readonly details: readonly string[];
}

export function keptLog(): KeptLog {
  const lines: string[] = [];
  const details: string[] = [];
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  const sink = {
    error: write('error'),
    warn: write('warn'),
    log: () => undefined,
    debug: (message: string) => {
      details.push(message);
    },
  };
  return { observer: operatorLog({ projectName: 'test', node: 'a', store: 'memory' }, sink), lines, details };
}
