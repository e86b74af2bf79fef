import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';

export interface JobHandlerOptions {
  /** How often a job is tried again after it failed. @default 0 */
  readonly retries?: number;
  /** Milliseconds before the first retry; each later one waits twice as long. A list has one entry for each retry. @default 1000 */
  readonly retryDelay?: number | readonly number[];
  /** Milliseconds after which a run fails. @default 60000 */
  readonly timeout?: number;
  /** Milliseconds that a run usually takes. One that takes twice as long is stuck. @default the time-out */
  readonly expected?: number;
  /** 0 to 1000. Jobs of a higher priority start first. @default 0 */
  readonly priority?: number;
  /** A cron expression, for jobs without a payload. */
  readonly schedule?: string;
  /** While a job with the same answer has not ended, another one is not enqueued. */
  readonly deduplicateBy?: (payload: never) => string;
}

/** What a handler is given besides its payload. */
export interface JobContext {
  readonly id: string;
  /** Fires when the job is cancelled, timed out or stuck, or when another worker has taken it over. */
  readonly signal: AbortSignal;
  /** Shows percent and message to the clients that follow the job. */
  progress(percent: number, message: string): Promise<void>;
  /** Replaces the payload for the next runs of this job. */
  updatePayload(payload: unknown): Promise<void>;
  /** Call it between two steps, when the first is saved: it throws when the worker stops, and another worker goes on. */
  throwIfStopping(): void;
}

const METADATA = 'durable-jobs:handler';

/**
 * Makes a provider method the handler of a type of job.
 * @example
 * ```ts
 * @JobHandler('report', { retries: 3, retryDelay: 1_000, timeout: 300_000 })
 * async write(payload: ReportPayload, context: JobContext) {}
 * ```
 */
export const JobHandler = (type: string, options: JobHandlerOptions = {}): MethodDecorator =>
  SetMetadata(METADATA, { type, options });

export interface FoundHandler {
  readonly type: string;
  readonly options: JobHandlerOptions;
  run(payload: unknown, context: JobContext): Promise<unknown>;
}

/** All handlers of the application, by type. */
@Injectable()
export class JobHandlers {
  #found: ReadonlyMap<string, FoundHandler> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error if there is no handler of this type */
  get(type: string): FoundHandler {
    const handler = this.#all().get(type);
    if (handler === undefined) throw new Error(`There is no @JobHandler('${type}')`);
    return handler;
  }

  list(): FoundHandler[] {
    return [...this.#all().values()];
  }

  #all(): ReadonlyMap<string, FoundHandler> {
    return (this.#found ??= new Map(this.#find().map((handler) => [handler.type, handler])));
  }

  #find(): FoundHandler[] {
    const providers = this.discovery.getProviders().filter(({ metatype }) => typeof metatype === 'function');
    return providers.flatMap(({ instance }) => {
      const provider = instance as Record<string, (payload: unknown, context: JobContext) => Promise<unknown>> | null;
      if (provider === null || typeof provider !== 'object') return [];
      return this.scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object).flatMap((name) => {
        const method = provider[name];
        const found =
          method && this.reflector.get<Pick<FoundHandler, 'type' | 'options'> | undefined>(METADATA, method);
        return found ? [{ ...found, run: method.bind(provider) }] : [];
      });
    });
  }
}
