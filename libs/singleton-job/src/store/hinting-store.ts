import { type StoreError } from '../base/errors/store.error.js';
import { type Connection, type Session, type SessionParts } from './connection.js';
import { hintText, hintsMissing } from './hints.js';
import { ServerStore, type ServerStoreOptions } from './server-store.js';

/** How often to check that hints arrive: normally there are none for a long time. */
export const CHECK_EVERY_MS = 3_000;

/**
 * A store on a server that passes on hints: while there is a session for requests, one for hints. That one is opened
 * anew with each session for requests, so that both are of the same server also when a name leads to another.
 */
export abstract class HintingStore<O extends ServerStoreOptions<unknown>, S extends Session> extends ServerStore<O, S> {
  /** For each new session of {@link requests}. */
  protected hints: Connection<S> | undefined;

  async publish(names: readonly string[] | '*'): Promise<void> {
    await this.sendMessage(hintText(names)).catch((error: unknown) => {
      this.#hintsFailed(error as StoreError);
      throw error;
    });
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.hints?.close()]);
  }

  /** The same as `newSession`, for hints. */
  protected abstract newSubscriber(parts: SessionParts): Promise<S>;
  /** To all replicas. */
  protected abstract sendMessage(text: string): Promise<unknown>;
  /** Whether hints arrive on the connection for hints. Rejects where the server refuses them. */
  protected abstract hintsArrive(session: S): Promise<boolean>;

  protected override ready(): void {
    if (this.options.subscribes !== false) this.#subscribe();
    super.ready();
  }

  protected override lost(error: StoreError): void {
    void this.hints?.close();
    super.lost(error);
  }

  #subscribe(): void {
    this.hints = this.newConnection({
      newSession: (lost) => this.newSubscriber({ lost, answerTimeoutMs: this.answerTimeoutMs }),
      onReady: () => void this.#check(this.hints?.session),
      onLost: (error) => {
        this.listeners.listening(false);
        this.#hintsFailed(error);
      },
    });
    this.hints.open();
  }

  /** Reports whether hints arrive, again and again until the session ends. */
  async #check(session: S | undefined): Promise<void> {
    const { hints } = this;
    if (hints === undefined || session === undefined || hints.session !== session) return;
    const arrives = await hints.send('subscribe', this.hintsArrive.bind(this)).catch((error: unknown) => {
      this.#hintsFailed(error as StoreError);
      return false;
    });
    if (hints.session !== session) return;
    this.listeners.listening(arrives);
    setTimeout(() => void this.#check(session), CHECK_EVERY_MS).unref();
  }

  /** A hint could not be sent or received. */
  #hintsFailed({ code, message }: StoreError): void {
    if (code !== 'STORE_UNREACHABLE') this.listeners.warn(hintsMissing(this.name, message));
  }
}
