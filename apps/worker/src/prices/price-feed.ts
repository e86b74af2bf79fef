import { Inject, Injectable } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { setTimeout as delay } from 'node:timers/promises';
import { workerConfig } from '../config/worker.config.js';

const QUICK_MS = 20;
const DAYS_OF_HISTORY = 365;

/** A fake API that is usually quick, and sometimes slower than the tick. */
@Injectable()
export class PriceFeed {
  #pulls = 0;

  constructor(@Inject(workerConfig.KEY) private readonly config: ConfigType<typeof workerConfig>) {}

  /** Every nth pull of this replica is slow. Rejects as soon as `signal` fires, with its reason, as `fetch` does. */
  async pull({ signal }: { readonly signal: AbortSignal }): Promise<number> {
    const { slowEvery, slowForMs } = this.config.priceTick;
    this.#pulls += 1;
    const isSlow = slowEvery > 0 && this.#pulls % slowEvery === 0;
    await answer(isSlow ? slowForMs : QUICK_MS, signal);
    return 100 + Math.sin(this.#pulls / 10);
  }

  /** Resolves to the number of past prices. Rejects as {@link pull} does. */
  async history({ signal }: { readonly signal: AbortSignal }): Promise<number> {
    await answer(this.config.priceImport.takesMs, signal);
    return DAYS_OF_HISTORY;
  }
}

async function answer(afterMs: number, signal: AbortSignal): Promise<void> {
  await delay(afterMs, undefined, { signal }).catch(() => {
    signal.throwIfAborted();
  });
}
