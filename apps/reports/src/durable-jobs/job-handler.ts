import { Inject, Injectable, type OnModuleInit, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { DURABLE_JOBS_OPTIONS, type DurableJobsOptions, type JobHandlerOptions } from './durable-jobs.options.js';

/** What a handler is given besides its payload. */
export interface JobContext {
  readonly id: string;
  /** Fires when the job is cancelled or timed out, or when another worker has taken it over. */
  readonly signal: AbortSignal;
  /** Shows percent and message to the clients that follow the job. */
  readonly progress: (percent: number, message: string) => Promise<void>;
  /** Replaces the payload for the next runs of this job. */
  readonly updatePayload: (payload: unknown) => Promise<void>;
  /**
   * Call it between two steps, when the first is saved: it throws when the worker stops, and another worker goes on.
   */
  readonly throwIfStopping: () => void;
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

export type CompleteOptions = Required<Omit<JobHandlerOptions, 'deduplicateBy'>> &
  Pick<JobHandlerOptions, 'deduplicateBy'>;

export interface FoundHandler {
  readonly type: string;
  readonly options: CompleteOptions;
  run(payload: unknown, context: JobContext): Promise<unknown>;
}

/** Node fires a timer with a longer delay at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Adds the defaults. @throws Error that has all mistakes, each with `place` in front */
export function completeOptions(place: string, options: JobHandlerOptions): CompleteOptions {
  const all = { retries: 0, retryDelay: 1_000, timeout: 60_000, priority: 0, ...options };
  const mistakes: string[] = [];
  const check = (name: string, value: number, least: number, most: number): void => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    mistakes.push(
      `${place}: ${name} must be a whole number from ${String(least)} to ${String(most)}, got ${String(value)}`,
    );
  };
  check('retries', all.retries, 0, 1_000);
  check('timeout', all.timeout, 1, MAX_TIMER_MS);
  check('priority', all.priority, 0, 1_000);
  for (const delay of [all.retryDelay].flat()) check('retryDelay', delay, 0, MAX_TIMER_MS);
  if (typeof all.retryDelay === 'object' && all.retryDelay.length !== all.retries)
    mistakes.push(`${place}: retryDelay must have one entry for each of the ${String(all.retries)} retries`);
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return all;
}

/** All handlers of the application, by type. */
@Injectable()
export class JobHandlers implements OnModuleInit {
  readonly #found = new Map<string, FoundHandler>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    @Inject(DURABLE_JOBS_OPTIONS) private readonly options: DurableJobsOptions,
  ) {}

  /** @throws Error with the mistakes of all handlers */
  onModuleInit(): void {
    const { overrides = {} } = this.options;
    const mistakes: string[] = [];
    for (const { type, options, run } of this.#find()) {
      if (this.#found.has(type)) mistakes.push(`@JobHandler('${type}') is there twice: give one of them another type`);
      try {
        const all = completeOptions(`@JobHandler('${type}')`, { ...options, ...overrides[type] });
        this.#found.set(type, { type, options: all, run });
      } catch (error) {
        mistakes.push((error as Error).message);
      }
    }
    const unknown = Object.keys(overrides).filter((type) => !this.#found.has(type));
    mistakes.push(...unknown.map((type) => `overrides.${type}: there is no @JobHandler('${type}')`));
    if (mistakes.length > 0) throw new Error(`Wrong job handlers:\n${mistakes.join('\n')}`);
  }

  get types(): string[] {
    return [...this.#found.keys()];
  }

  find(type: string): FoundHandler | undefined {
    return this.#found.get(type);
  }

  /** @throws Error if there is no handler of this type */
  get(type: string): FoundHandler {
    const handler = this.find(type);
    if (handler === undefined) throw new Error(`There is no @JobHandler('${type}')`);
    return handler;
  }

  #find(): (Omit<FoundHandler, 'options'> & { readonly options: JobHandlerOptions })[] {
    const providers = this.discovery.getProviders().filter(({ metatype }) => typeof metatype === 'function');
    return providers.flatMap(({ instance }) => {
      const provider = instance as Record<string, FoundHandler['run']> | null;
      if (provider === null || typeof provider !== 'object') return [];
      return this.scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object).flatMap((name) => {
        const method = provider[name];
        const found =
          method && this.reflector.get<{ type: string; options: JobHandlerOptions } | undefined>(METADATA, method);
        return found ? [{ ...found, run: method.bind(provider) }] : [];
      });
    });
  }
}
