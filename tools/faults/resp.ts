/** A value of the Redis protocol as far as a proxy needs it: text, numbers as text, lists. */
export type RespValue = string | undefined | readonly RespValue[];

export interface Frame {
  readonly value: RespValue;
  readonly bytes: Buffer;
  /** A message that answers no command. */
  readonly isPush: boolean;
}

/** A command as it goes over the wire. */
export function encode(...words: readonly string[]): Buffer {
  const parts = words.map((word) => `$${String(Buffer.byteLength(word))}\r\n${word}\r\n`);
  return Buffer.from(`*${String(words.length)}\r\n${parts.join('')}`);
}

/** Cuts a stream of bytes into whole frames of RESP2 or RESP3, and keeps what is incomplete for the next time. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  read(chunk: Buffer): Frame[] {
    const buffer = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let start = 0;
    for (let parsed = parse(buffer, start); parsed !== undefined; parsed = parse(buffer, start)) {
      const bytes = buffer.subarray(start, parsed.end);
      frames.push({ value: parsed.value, bytes, isPush: bytes[0] === PUSH });
      start = parsed.end;
    }
    this.#rest = buffer.subarray(start);
    return frames;
  }
}

const PUSH = '>'.charCodeAt(0);
const BULKS = '$=!';
const LISTS = '*~>%|';

interface Parsed {
  readonly value: RespValue;
  readonly end: number;
}

/** Undefined while the frame is not complete. */
function parse(buffer: Buffer, start: number): Parsed | undefined {
  const lineEnd = buffer.indexOf('\r\n', start);
  if (lineEnd === -1) return undefined;
  const type = String.fromCharCode(buffer[start] ?? 0);
  const text = buffer.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  if (BULKS.includes(type)) return bulk(buffer, end, Number(text));
  // a map has two entries for each of its keys
  if (LISTS.includes(type)) return list(buffer, end, Number(text) * (type === '%' || type === '|' ? 2 : 1));
  return { value: type === '_' ? undefined : text, end };
}

function bulk(buffer: Buffer, start: number, length: number): Parsed | undefined {
  if (length < 0) return { value: undefined, end: start };
  const end = start + length + 2;
  return end > buffer.length ? undefined : { value: buffer.toString('utf8', start, end - 2), end };
}

function list(buffer: Buffer, start: number, length: number): Parsed | undefined {
  const values: RespValue[] = [];
  let end = start;
  while (values.length < length) {
    const next = parse(buffer, end);
    if (next === undefined) return undefined;
    values.push(next.value);
    end = next.end;
  }
  return { value: values, end };
}
