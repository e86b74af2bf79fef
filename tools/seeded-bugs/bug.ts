import { type Theme } from '../../test/simulation/themes.js';
import { type Rule, type Violation } from '../../test/support/checker.js';

/** A replacement in one file. */
export interface Edit {
  /** Relative to `libs/singleton-job/src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Stories in which a bug is looked for. */
export interface Hunt {
  readonly theme: Theme;
  readonly first: number;
  readonly count: number;
  /** Ends with the first story that breaks this rule. @default all are played */
  readonly until?: Rule;
}

/** What plays in the processes of a story: the library, or a version of the original. */
export type Cast = 'library' | '1.0.0' | 'main';

/** How a hunt ended. */
export interface Catch {
  /** Stories that were played. */
  readonly stories: number;
  /** For each rule that was broken, where it was first, and the lines of the history that show it. */
  readonly broken: readonly (Violation & { readonly seed: number })[];
  /** In how many stories each rule was broken. */
  readonly times: { readonly [R in Rule]?: number };
}

/** A mistake that somebody could make, put into the library on purpose. */
export interface Bug {
  /** Fit for the name of a folder. */
  readonly name: string;
  /** What the library does then, in a few words. */
  readonly mistake: string;
  readonly edits: readonly Edit[];
  /** The rule that was made for it. It may break others, and earlier. */
  readonly breaks: Rule;
  /** Where it is known to show. */
  readonly hunt: Hunt;
}
