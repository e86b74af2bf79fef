import { isDeepStrictEqual } from 'node:util';
import { type HeartbeatThreadPort, type LeadershipContext } from '../leadership/context.js';
import { type HeartbeatThread } from './heartbeat-thread.js';
import { type HeartbeatThreadState } from './thread-data.js';

/** What the main thread sends and gets. */
export type ThreadEnd = Pick<HeartbeatThread, 'update' | 'takeReports'>;

/** Sends the heartbeat thread what to renew, and raises deadlines by what it has renewed. */
export class HeartbeatThreadLink implements HeartbeatThreadPort {
  /** What the thread got last: it gets again only what differs. */
  #sent: HeartbeatThreadState | undefined;

  constructor(
    private readonly thread: ThreadEnd,
    /** What the main thread knows. */
    private readonly main: LeadershipContext,
  ) {}

  takeReports(): void {
    const { storeView, leases } = this.main;
    for (const { incarnation, id, sent } of this.thread.takeReports()) {
      if (incarnation === storeView.incarnation.id) leases.find(id)?.extend(sent);
    }
  }

  send(): void {
    const { storeView, leases, heartbeat } = this.main;
    if (storeView.isEmpty) return;
    const { sentAt, intervalMs } = heartbeat;
    const confirmed = leases.all.flatMap(({ id, deadline }) => (deadline === undefined ? [] : { id, deadline }));
    const state = { incarnation: storeView.incarnation.id, sentAt, intervalMs, leases: confirmed };
    if (isDeepStrictEqual(state, this.#sent)) return;
    this.#sent = state;
    this.thread.update(state);
  }
}
