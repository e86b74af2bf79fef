import { type Clock, instant, type Instant } from '../../libs/singleton-job/src/base/time/clock.js';
import { isBefore, trustedMs } from '../../libs/singleton-job/src/leadership/lease.js';
import { type HeartbeatBackup } from '../../libs/singleton-job/src/leadership/replica.js';
import { lifeOf } from '../../libs/singleton-job/src/store/store.js';
import { type Link } from './link.js';

type State = Parameters<HeartbeatBackup['update']>[0];
type Report = ReturnType<HeartbeatBackup['takeReports']>[number];

/** It does not keep the leases of a main thread that is blocked for longer. */
const LIMIT_MS = 20_000;

/** Keeps the leases while the main thread is blocked. To be replaced by the real one. */
export class HeartbeatThread implements HeartbeatBackup {
  /** Not taken by the main thread yet. */
  reports: Report[] = [];
  #told: Omit<State, 'leases'> | undefined;
  /** The deadline of each lease that it keeps. */
  #deadlines = new Map<string, Instant>();

  constructor(
    private readonly clock: Clock,
    private readonly store: Link,
  ) {
    store.open();
    this.#beat();
  }

  update({ leases, ...state }: State): void {
    this.#told = state;
    this.#deadlines = new Map(leases.map(({ id, deadline }) => [id, deadline]));
  }

  takeReports(): readonly Report[] {
    return this.reports.splice(0);
  }

  async close(): Promise<void> {
    this.kill();
  }

  /** With its process. */
  kill(): void {
    this.#told = undefined;
    void this.store.close();
  }

  /** The process ends by itself: nothing runs any more. */
  async sayGoodbye(): Promise<void> {
    await this.store.sync({ isNewcomer: false, renew: [], grant: [], revoke: [...this.#deadlines.keys()], read: [] });
    await this.store.publish?.('*');
  }

  cut(ms: number): void {
    this.store.cut(ms);
  }

  break(reason: string): void {
    this.store.break(reason);
  }

  #beat(): void {
    this.clock.setTimer((this.#told?.intervalMs ?? 200) / 2, () => {
      this.#beat();
    });
    const told = this.#told;
    // where the store hides its server, leases of lost data would be kept
    if (told === undefined || told.incarnation.startsWith('/')) return;
    const overdueMs = this.clock.now() - told.sentAt;
    if (overdueMs < 1.5 * told.intervalMs || overdueMs > LIMIT_MS) return;
    const renew = [...this.#deadlines].filter(([, deadline]) => isBefore(this.clock, deadline)).map(([id]) => id);
    if (renew.length > 0) void this.#renew(renew, told.incarnation).catch(() => undefined);
  }

  async #renew(renew: readonly string[], incarnation: string): Promise<void> {
    const sent = instant(this.clock);
    const result = await this.store.sync({ isNewcomer: false, renew, grant: [], revoke: [], read: [] });
    for (const id of renew) {
      if (result.incarnation.id !== incarnation || !result.leases.has(id)) this.#deadlines.delete(id);
      else {
        const ms = trustedMs(lifeOf(id));
        this.#deadlines.set(id, { now: sent.now + ms, wall: sent.wall + ms });
        this.reports.push({ incarnation, id, sent });
      }
    }
  }
}
