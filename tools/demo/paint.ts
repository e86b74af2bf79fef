const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36 } as const;

export type Style = keyof typeof CODES;

/** Gives a text a style, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_style, text) => text;

export const coloured: Paint = (style, text) => `\u001b[${String(CODES[style])}m${text}\u001b[0m`;

/** What a stream says about itself; one that is no terminal says nothing. */
interface Terminal {
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

/** Coloured on a terminal that can and may (NO_COLOR, TERM), plain in a pipe. */
export function paintFor(stream: Terminal): Paint {
  return stream.isTTY === true && stream.hasColors?.() === true ? coloured : plain;
}
