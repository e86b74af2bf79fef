/** The health check of the container: `node check.js /health/live` exits with 0 if the worker in it answers 200. */
const ANSWER_WITHIN_MS = 4_000;

const { HOST = '127.0.0.1', PORT = '3000' } = process.env;
// a server on all addresses also listens on the loopback address
const host = ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
const [path = '/health/ready'] = process.argv.slice(2);

try {
  const response = await fetch(`http://${host}:${PORT}${path}`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  process.stdout.write(`${await response.text()}\n`);
  if (!response.ok) process.exitCode = 1;
} catch (error: unknown) {
  const { cause, message } = error as Error;
  process.stderr.write(`no answer at ${host}:${PORT}: ${cause instanceof Error ? cause.message : message}\n`);
  process.exitCode = 1;
}
