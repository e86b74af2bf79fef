import { type Election } from '../../libs/singleton-job/src/leadership/election.js';
import { type Command } from '../../libs/singleton-job/src/leadership/record.js';
import { type Replica } from '../../libs/singleton-job/src/leadership/replica.js';

/** Commands of any replica. To be replaced by the real ones. Undefined: the effect is unknown. */
export async function pause({ view }: Replica, election: Election): Promise<boolean> {
  const result = await election.edit({
    resultOf: ({ pausedAt }) => (pausedAt === undefined ? undefined : true),
    change: (record) => ({ ...record, pausedAt: view.storeNow() }),
  });
  return result === true;
}

export async function resume(_replica: Replica, election: Election): Promise<boolean> {
  const result = await election.edit({
    resultOf: ({ pausedAt }) => (pausedAt === undefined ? true : undefined),
    change: (record) => ({ ...record, pausedAt: undefined }),
  });
  return result === true;
}

export function command(
  { view }: Replica,
  election: Election,
  { id, action }: Pick<Command, 'id' | 'action'>,
): Promise<string | undefined> {
  let isWritten = false;
  let doubtful: number | undefined;
  const isOpen = ({ outcome, until: end }: Command): boolean => outcome === undefined && end > view.storeNow();
  return election.edit({
    wasUnknown: (revision) => {
      doubtful = revision;
    },
    resultOf: ({ command: there, holder, pausedAt }, revision) => {
      if (there?.id === id) {
        isWritten = true;
        return there.outcome;
      }
      // it may have been there, and the next command after it
      if (isWritten || (doubtful !== undefined && revision !== doubtful)) return 'unknown';
      if (pausedAt !== undefined) return 'paused';
      return holder === undefined ? 'no-leader' : undefined;
    },
    change: (record, until) => {
      if (isWritten || (record.command !== undefined && isOpen(record.command))) return undefined;
      return { ...record, command: { id, action, until } };
    },
  });
}
