import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A receiver of webhooks. It cannot handle the first FAILURES deliveries, and then handles each id once. */
const webhook = new Webhook(process.env['SECRET'] ?? '');
const seen = new Set<string>();
let failures = Number(process.env['FAILURES'] ?? 0);

function statusFor(body: Buffer, headers: Record<string, string>): number {
  try {
    webhook.verify(body, headers);
  } catch {
    return 401;
  }
  if (failures-- > 0) return 500;
  const id = headers['webhook-id'] ?? '';
  if (!seen.has(id)) process.stdout.write(`handled ${body.toString()}\n`);
  seen.add(id);
  return 200;
}

const server = createServer((request, response) => {
  void (async () => {
    const body = await buffer(request);
    const headers = request.headers as Record<string, string>;
    process.stdout.write(`delivery ${String(headers['webhook-id'])} at ${String(Date.now())}\n`);
    response.writeHead(statusFor(body, headers)).end();
  })();
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`answers at http://127.0.0.1:${String(typeof address === 'object' && address?.port)}\n`);
});
