import { type ClaimResult, type Holder, type RenewResult, type StateUpdate } from '../store/lock-store.js';
import { instant, type Instant } from '../base/time/clock.js';
import { type JobLease } from './job-lease.js';
import { LockRenewal } from './renewals.js';
import { type Replica } from './replica.js';
import { type RequestKind } from './store-client/store-client.js';
import { StoreClock } from './store-clock.js';
import { type TermFacts } from './term.js';

interface TermRequestsParts {
  readonly replica: Pick<Replica, 'context' | 'restarts'>;
  readonly facts: TermFacts;
  readonly lease: JobLease;
  /** Aborts when the term is over: then nothing is sent any more. */
  readonly signal: AbortSignal;
  /** The store has confirmed the lock to a request that was sent at `sent`. `provesLock`: the lock cannot be lost since then. */
  readonly onConfirmed: (result: RenewResult | ClaimResult, sent: Instant, provesLock: boolean) => void;
  /** The lock is lost. `otherHolder` has it; undefined: it is free. */
  readonly onLost: (otherHolder: Holder | undefined) => void;
}

/** Sends the renewals and claims of a term. Each records how far the leader got. */
export class TermRequests {
  readonly storeClock: StoreClock;
  readonly renewal: LockRenewal;

  constructor(private readonly parts: TermRequestsParts) {
    const { replica, facts, signal } = parts;
    const { client, clock } = replica.context;
    this.storeClock = new StoreClock(clock);
    this.storeClock.learn(facts.grant.storeTime, facts.sent);
    this.renewal = new LockRenewal(facts.name, signal, () =>
      this.#untilAnswered('renew', (update) => client.store.renew({ ...this.#command(), update })),
    );
  }

  /** Claims a cron occurrence. Undefined: the term was over before there was an answer. */
  async claim(scheduledAt: number): Promise<ClaimResult | undefined> {
    const { replica, facts } = this.parts;
    const { token } = facts.grant;
    const result = await this.#untilAnswered('claim', (update) =>
      replica.context.client.store.claim({ ...this.#command(), token, scheduledAt, update }),
    );
    if (result !== undefined) facts.watermarks.raise({ claimed: result.claimed });
    return result;
  }

  #command() {
    const { name, holder } = this.parts.facts;
    return { name, holder, lifeMs: this.parts.lease.lockLifeMs };
  }

  #untilAnswered<R extends RenewResult | ClaimResult>(
    kind: RequestKind,
    send: (update: StateUpdate) => Promise<R>,
  ): Promise<R | undefined> {
    const { facts, onConfirmed, onLost, replica, signal } = this.parts;
    const request = async (): Promise<R> => {
      const sent = instant(replica.context.clock);
      const isUpToDate = replica.restarts.observe();
      const result = await send(facts.watermarks.update(facts.schedule));
      // a late answer counts too: a yes counts from the time the request was sent, and a no is final
      this.storeClock.learn(result.storeTime, sent);
      if (isHeld(result)) onConfirmed(result, sent, isUpToDate());
      else onLost(result.holder);
      return result;
    };
    return replica.context.client.untilAnswered({ name: facts.name, kind, signal, send: request });
  }
}

function isHeld(result: RenewResult | ClaimResult): boolean {
  return 'held' in result ? result.held : result.outcome !== 'not-leader';
}
