import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Calls `onCommand` with every command that a Redis carries out during `during`, as MONITOR shows it. It uses its own
 * socket: ioredis loses a command that arrives together with the answer to MONITOR.
 */
export async function monitored<T>(
  url: string,
  onCommand: (line: string) => void,
  during: () => Promise<T>,
): Promise<T> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = createInterface({ input: socket });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write('MONITOR\r\n');
      lines.once('line', (answer) => {
        if (answer !== '+OK') reject(new Error(`MONITOR was answered with '${answer}'`));
        lines.on('line', onCommand);
        resolve();
      });
    });
    return await during();
  } finally {
    socket.destroy();
  }
}
