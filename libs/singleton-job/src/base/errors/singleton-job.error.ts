/** The base of every error of this library. `code` is stable; the message is for people and may change. */
export abstract class SingletonJobError extends Error {
  /** Names the kind of error. Stable, unlike the message. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
