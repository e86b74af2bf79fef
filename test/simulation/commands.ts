import { type Edit } from '../../libs/singleton-job/src/leadership/edit.js';
import { type JobRecord } from '../../libs/singleton-job/src/leadership/record.js';

export type CommandKind = 'pause' | 'resume' | 'trigger' | 'step-down';

/** What a caller wants of a record. To be replaced by the real commands. */
export function commandOf(kind: CommandKind, id: string, storeNow: () => number): Edit<string> {
  if (kind === 'pause')
    return {
      resultOf: ({ pausedAt }) => (pausedAt === undefined ? undefined : 'paused'),
      change: (record) => ({ ...record, pausedAt: storeNow() }),
    };
  if (kind === 'resume')
    return {
      resultOf: ({ pausedAt }) => (pausedAt === undefined ? 'resumed' : undefined),
      change: (record) => ({ ...record, pausedAt: undefined }),
    };
  let isWritten = false;
  let doubtful: number | undefined;
  const isOpen = ({ command }: JobRecord): boolean =>
    command !== undefined && command.outcome === undefined && command.until > storeNow();
  return {
    wasUnknown: (revision) => {
      doubtful = revision;
    },
    resultOf: ({ command, holder, pausedAt }, revision) => {
      if (command?.id === id) {
        isWritten = true;
        return command.outcome;
      }
      // it may have been there, and the next command after it
      if (isWritten || (doubtful !== undefined && revision !== doubtful)) return 'unknown';
      if (pausedAt !== undefined) return 'paused';
      return holder === undefined ? 'no-leader' : undefined;
    },
    change: (record, until) =>
      isWritten || isOpen(record) ? undefined : { ...record, command: { id, action: kind, until } },
  };
}
