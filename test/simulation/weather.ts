/** How a network treats what is sent over it: shares of what it carries, and how long that takes. */
export interface Weather {
  /** Commands that never arrive. */
  readonly lostCommands: number;
  /** Answers that never come back: the command was carried out all the same. */
  readonly lostAnswers: number;
  /** Messages of releases that nobody hears. */
  readonly lostMessages: number;
  /** Commands that arrive twice. */
  readonly duplicated: number;
  /** A share of everything that takes up to `slowMs` instead of a moment, and so is overtaken. */
  readonly slow: number;
  readonly slowMs: number;
  /** The connection is refused or reset: every command fails at once. */
  readonly isCut: boolean;
}

export const FINE_WEATHER: Weather = {
  lostCommands: 0,
  lostAnswers: 0,
  lostMessages: 0,
  duplicated: 0,
  slow: 0,
  slowMs: 0,
  isCut: false,
};

/** The longest that anything travels in fine weather. */
export const TRAVEL_MS = 2;

/** What is not as in fine weather. */
export function weatherInWords(weather: Weather): string {
  const { isCut, slow, slowMs, lostCommands, lostAnswers, lostMessages, duplicated } = weather;
  const share = (part: number): string => `${Math.round(100 * part)} %`;
  return [
    isCut ? 'cut off' : '',
    lostCommands > 0 ? `${share(lostCommands)} of commands lost` : '',
    lostAnswers > 0 ? `${share(lostAnswers)} of answers lost` : '',
    lostMessages > 0 ? `${share(lostMessages)} of messages lost` : '',
    duplicated > 0 ? `${share(duplicated)} of commands twice` : '',
    slow > 0 ? `${share(slow)} slow by up to ${Math.round(slowMs)} ms` : '',
  ]
    .filter(Boolean)
    .join(', ');
}
