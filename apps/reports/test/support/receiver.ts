import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from '../../src/webhooks/verify-webhook.js';

/** A receiver of webhooks. It cannot handle the first FAILURES deliveries, and then handles each id once. */
const seen = new Set<string>();
let failures = Number(process.env['FAILURES'] ?? 0);

const server = createServer((request, response) => {
  void (async () => {
    const rawBody = await buffer(request);
    const id = String(request.headers['webhook-id']);
    process.stdout.write(`delivery ${id} at ${String(Date.now())}\n`);
    const isNew = (one: string) => !seen.has(one) && seen.add(one).size > 0;
    const verdict = await verifyWebhook({
      headers: request.headers,
      rawBody,
      secret: process.env['SECRET'] ?? '',
      isNew,
    });
    if (verdict === 'accepted' && failures-- > 0) {
      seen.delete(id);
      response.writeHead(500).end();
      return;
    }
    if (verdict === 'accepted') process.stdout.write(`handled ${rawBody.toString()}\n`);
    response.writeHead(verdict === 'accepted' || verdict === 'duplicate' ? 200 : 401).end(verdict);
  })();
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`answers at http://127.0.0.1:${String(typeof address === 'object' && address?.port)}\n`);
});
