import { connect } from 'node:net';

/** Where a server is. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A command of Redis, and whether PostgreSQL has TLS. MySQL and many others speak first. */
const QUESTIONS = ['PING\r\n', '\0\0\0\x08\x04\xd2\x16/'];
const MAX_SILENCE_MS = 500;

/** What the server there says to a client that has not logged in. Empty: nothing. Never rejects. */
export async function firstAnswer(address: Address): Promise<string> {
  for (const question of QUESTIONS) {
    // no socket takes some ports that a client takes
    const answer = await ask(address, question).catch(() => '');
    if (answer !== '') return answer;
  }
  return '';
}

function ask({ host, port }: Address, question: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (answer = ''): void => {
      resolve(answer);
      socket.destroy();
    };
    socket.on('data', (bytes) => {
      end(bytes.toString('latin1'));
    });
    // the end comes after it
    socket.on('error', () => undefined);
    socket.on('close', () => {
      end();
    });
    socket.setTimeout(MAX_SILENCE_MS, end);
    socket.write(question, 'latin1');
  });
}
