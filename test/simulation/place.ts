import { type ClockFaults } from './process-clock.js';
import { type SimulatedProcess } from './simulated-process.js';
import { GOOD_CONDITIONS, type NetworkConditions } from './network-conditions.js';

/** A host with its conditions. One process of the application runs on it at a time. */
export class Place {
  readonly #start: (name: string, clock: ClockFaults) => SimulatedProcess;
  readonly #active = new Set<NetworkConditions>();
  #started = 0;
  #process: SimulatedProcess | undefined;

  constructor(
    private readonly name: string,
    start: (name: string, clock: ClockFaults) => SimulatedProcess,
  ) {
    this.#start = start;
  }

  /** Undefined while the place is empty. */
  get process(): SimulatedProcess | undefined {
    return this.#process;
  }

  start(clock: ClockFaults): void {
    this.#started += 1;
    this.#process = this.#start(`${this.name}${this.#started}`, clock);
    this.#process.conditions = this.#conditions;
  }

  /** Later faults of this place do not reach the process that was here. */
  leave(): void {
    this.#process = undefined;
  }

  /** Applies conditions to this place. Returns a function that ends them. */
  apply(conditions: NetworkConditions): () => void {
    this.#active.add(conditions);
    this.#applyNewest();
    return () => {
      this.#active.delete(conditions);
      this.#applyNewest();
    };
  }

  /** The newest conditions that have not ended. */
  get #conditions(): NetworkConditions {
    return [...this.#active].at(-1) ?? GOOD_CONDITIONS;
  }

  #applyNewest(): void {
    if (this.#process !== undefined) this.#process.conditions = this.#conditions;
  }
}
