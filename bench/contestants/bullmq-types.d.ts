/**
 * The part of BullMQ that is used here, for checks in the root of the repository, where this package is not installed.
 */
declare module 'bullmq' {
  interface Options {
    readonly connection: { readonly host: string; readonly port: number };
    readonly prefix: string;
  }

  interface Job {
    readonly name: string;
    readonly id?: string;
  }

  class Queue {
    constructor(name: string, options: Options);
    readonly name: string;
    upsertJobScheduler(id: string, repeat: { readonly every: number; readonly offset?: number }): Promise<unknown>;
  }

  class Worker {
    constructor(
      name: string,
      processor: (job: Job) => Promise<void>,
      options: Options & Readonly<Record<string, unknown>>,
    );
    on(event: 'error', listener: (error: Error) => void): this;
  }
}
