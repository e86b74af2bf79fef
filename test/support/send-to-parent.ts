/** Sends a message to the spec that has started this process. */
export function sendToParent(message: object): void {
  const { NODE: node } = process.env;
  process.send?.({ ...message, atMs: Date.now(), node, pid: process.pid }, undefined, undefined, () => undefined);
}
