import { EventEmitter } from 'node:events';
import { type PostgresClient, type Row } from '../../store/postgres/postgres-clients.js';

/** A client without a network, which answers or is silent. */
export class FakePostgresClient extends EventEmitter implements PostgresClient {
  readonly host = '';
  readonly port = 0;
  readonly processID = null;
  readonly secretKey = null;
  #fail: (error: Error) => void = () => undefined;
  readonly connection = {
    stream: {
      bytesRead: 0,
      connecting: false,
      destroy: () => {
        this.#fail(new Error('closed'));
      },
    },
  };

  constructor(private readonly server: { readonly isSilent: boolean }) {
    super();
  }

  connect(): Promise<void> {
    return Promise.resolve();
  }

  query(): Promise<{ rows: readonly Row[] }> {
    if (!this.server.isSilent) return Promise.resolve({ rows: [] });
    return new Promise((_resolve, reject) => (this.#fail = reject));
  }

  end(): Promise<void> {
    this.connection.stream.destroy();
    return Promise.resolve();
  }
}
