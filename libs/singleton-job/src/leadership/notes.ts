/** So many names that nobody asks about any more are kept: keys of locks are made of tenants, and may be without number. */
const MOST_LEFT = 1_000;

/** What is noted of names. Whoever stops asking about one and asks again later goes on with the same note. */
export class Notes<K, V> {
  readonly #asked = new Map<K, V>();
  /** Of names that nobody asks about any more, the latest of them. */
  readonly #left = new Map<K, V>();

  /** How many there are of names that somebody asks about. */
  get size(): number {
    return this.#asked.size;
  }

  /** Those of names that somebody asks about. */
  entries(): readonly (readonly [K, V])[] {
    return [...this.#asked];
  }

  get(name: K): V | undefined {
    return this.#asked.get(name) ?? this.#left.get(name);
  }

  /** Notes something of a name that somebody asks about. */
  set(name: K, note: V): void {
    this.#left.delete(name);
    this.#asked.set(name, note);
  }

  delete(name: K): void {
    this.#asked.delete(name);
    this.#left.delete(name);
  }

  /** Nobody asks about it any more. */
  leave(name: K): void {
    const note = this.#asked.get(name);
    if (note === undefined) return;
    this.#asked.delete(name);
    this.#left.set(name, note);
    const [oldest] = this.#left.keys();
    if (this.#left.size > MOST_LEFT && oldest !== undefined) this.#left.delete(oldest);
  }
}
