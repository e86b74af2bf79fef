import { type ClockFaults } from '../../simulation/process-clock.js';
import { type SimulatedProcess } from './simulated-process.js';
import { FINE_WEATHER, type Weather } from './network-conditions.js';

/** A host on which one process of the fleet runs at a time, with the weather that it is in. */
export class Place {
  readonly #start: (name: string, clock: ClockFaults) => SimulatedProcess;
  readonly #weathers = new Set<Weather>();
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
    this.#process.network.weather = this.#weather;
  }

  /** Nothing that strikes this place from now on reaches the process that was in it. */
  leave(): void {
    this.#process = undefined;
  }

  /** A weather sets in; returns how it ends. */
  endure(weather: Weather): () => void {
    this.#weathers.add(weather);
    this.#tell();
    return () => {
      this.#weathers.delete(weather);
      this.#tell();
    };
  }

  /** The newest of those that have not ended. */
  get #weather(): Weather {
    return [...this.#weathers].at(-1) ?? FINE_WEATHER;
  }

  #tell(): void {
    if (this.#process !== undefined) this.#process.network.weather = this.#weather;
  }
}
