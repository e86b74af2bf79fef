import { Inject, Injectable } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { type JobEvents, type JobObserver } from 'nestjs-singleton-job';
import { workerConfig } from '../config/worker.config.js';
import { told } from './told.js';

/**
 * Tells the process that forked this one what happens here; heartbeats are no news. Without a parent that listens, it does
 * nothing. README.md has the form of a message.
 */
@Injectable()
export class EventFeed implements Required<Omit<JobObserver, 'leaseRenewed'>> {
  readonly leadershipGained = this.#teller('leadershipGained');
  readonly leadershipLost = this.#teller('leadershipLost');
  readonly leadershipReleased = this.#teller('leadershipReleased');
  readonly runStarted = this.#teller('runStarted');
  readonly runSucceeded = this.#teller('runSucceeded');
  readonly runFailed = this.#teller('runFailed');
  readonly runCancelled = this.#teller('runCancelled');
  readonly runSlow = this.#teller('runSlow');
  readonly tickDropped = this.#teller('tickDropped');
  readonly occurrencesMissed = this.#teller('occurrencesMissed');
  readonly eventLoopBlocked = this.#teller('eventLoopBlocked');
  readonly storeUnreachable = this.#teller('storeUnreachable');
  readonly storeRecovered = this.#teller('storeRecovered');
  readonly requestDenied = this.#teller('requestDenied');
  readonly clockAhead = this.#teller('clockAhead');
  readonly evictionPossible = this.#teller('evictionPossible');
  readonly restartsHidden = this.#teller('restartsHidden');
  readonly lockTtlRestored = this.#teller('lockTtlRestored');
  readonly runnerFailed = this.#teller('runnerFailed');
  readonly observerFailed = this.#teller('observerFailed');

  /** What happened while the application was still starting: the parent hears of `ready` first. */
  #held: object[] | undefined = [];

  constructor(@Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>) {}

  /** The first message of all: signals are heeded from now on, and `url` is answered. */
  ready(payload: { readonly url: string }): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of [this.#stamped({ event: 'ready', payload }), ...held]) send(message);
  }

  #teller<E extends keyof JobEvents>(event: E): (payload: JobEvents[E]) => void {
    return (payload) => {
      const message = this.#stamped({ event, payload: told(payload) });
      if (this.#held === undefined) send(message);
      else this.#held.push(message);
    };
  }

  #stamped(message: { readonly event: string; readonly payload?: object }): object {
    return { ...message, atMs: Date.now(), node: this.config.node, pid: process.pid };
  }
}

function send(message: object): void {
  // the callback takes the error of a parent that has gone; the channel itself keeps no process alive
  process.send?.(message, undefined, undefined, () => undefined);
}
