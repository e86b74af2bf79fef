import { Inject, Injectable } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { Subject } from 'rxjs';
import { workerConfig } from '../config/worker.config.js';
import { payloadAsJson } from './payload-as-json.js';
import { type JobEvent, type JobObserver } from 'nestjs-singleton-job';

/**
 * Sends the events of this replica, except renewals, to the parent process. Without an IPC channel to a parent it does
 * nothing. README.md describes the messages.
 */
@Injectable()
export class EventFeed implements JobObserver {
  /** Every event from now on. */
  readonly events = new Subject<JobEvent>();
  /** Events from before the application was ready: the parent gets `ready` first. */
  #held: object[] | undefined = [];

  constructor(@Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>) {}

  /** Sends the first message: from now on the worker handles signals and answers at `url`. */
  ready(payload: { readonly url: string }): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of [this.#stamped({ event: 'ready', payload }), ...held]) send(message);
  }

  onEvent(happened: JobEvent): void {
    this.events.next(happened);
    const { event, payload } = happened;
    if (event === 'heartbeatAnswered') return;
    const message = this.#stamped({ event, payload: payloadAsJson(payload) });
    if (this.#held === undefined) send(message);
    else this.#held.push(message);
  }

  #stamped(message: { readonly event: string; readonly payload?: object }): object {
    return { ...message, atMs: Date.now(), node: this.config.node, pid: process.pid };
  }
}

function send(message: object): void {
  // the callback receives the error if the parent has gone; the channel does not keep the process alive
  process.send?.(message, undefined, undefined, () => undefined);
}
