import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Tells `hear` every command that a Redis carries out while `during` lasts, as Redis shows it in MONITOR. On a socket of its
 * own: ioredis takes a command that arrives together with the answer to MONITOR for an answer to nothing.
 */
export async function monitored<T>(url: string, hear: (line: string) => void, during: () => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = createInterface({ input: socket });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write('MONITOR\r\n');
      lines.once('line', (answer) => {
        if (answer !== '+OK') reject(new Error(`MONITOR was answered with '${answer}'`));
        lines.on('line', hear);
        resolve();
      });
    });
    return await during();
  } finally {
    socket.destroy();
  }
}
