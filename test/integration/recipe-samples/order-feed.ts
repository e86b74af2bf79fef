// order-feed.ts
import { Injectable } from '@nestjs/common';
import { type EventEmitter } from 'node:events';
import { type JobRun, WhileLeader } from 'nestjs-singleton-job';

/** Your client and your database. */
export abstract class Orders {
  abstract connect(): Promise<EventEmitter & { close(): unknown }>;
  abstract save(order: string, fencingToken: number): Promise<void>;
}

@Injectable()
export class OrderFeed {
  constructor(private readonly orders: Orders) {}

  @WhileLeader('order-feed')
  async consume(run: JobRun): Promise<void> {
    const client = await this.orders.connect();
    let work = Promise.resolve();
    try {
      await new Promise((resolve, reject) => {
        run.signal.throwIfAborted();
        run.signal.addEventListener('abort', () => {
          reject(run.signal.reason as Error);
        });
        client.on('error', reject).on('close', resolve);
        client.on('message', (order) => {
          work = work.then(() => this.handle(String(order), run)); // one after the other
          work.catch(reject);
        });
      });
    } finally {
      client.close();
      await work;
    }
  }

  private async handle(order: string, run: JobRun): Promise<void> {
    run.assertLeader();
    await this.orders.save(order, run.fencingToken);
  }
}
