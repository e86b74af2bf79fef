import { connect } from 'node:net';

/**
 * Whether the server with process id `pid` answers on `port` and has loaded its data. False while nothing listens, while it
 * loads, and when another program has the port.
 */
export function isAnswering(port: number, pid: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = connect({ port, host });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(500, () => {
      settle(false);
    });
    socket.on('error', () => {
      settle(false);
    });
    socket.on('end', () => {
      settle(false);
    });
    socket.on('connect', () => {
      socket.write('PING\r\nINFO server\r\n');
    });
    socket.on('data', (chunk) => {
      reply += chunk.toString('latin1');
      if (!reply.includes('process_id:')) return;
      settle(reply.startsWith('+PONG') && new RegExp(`^process_id:${String(pid)}\r$`, 'm').test(reply));
    });
  });
}

/** Writes the data to disk and ends the server on `port`. Resolves when it has closed the connection; rejects where it refuses. */
export function saveAndShutDown(port: number, host = '127.0.0.1'): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    socket.on('connect', () => {
      socket.write('SHUTDOWN SAVE\r\n');
    });
    // the server answers only to refuse
    socket.on('data', (chunk) => {
      reject(new Error(`SHUTDOWN SAVE: ${chunk.toString('latin1').trim()}`));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      resolve();
    });
  });
}
