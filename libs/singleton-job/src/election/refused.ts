/** What a store may refuse to a job, or to all of them: to tell and to hear of releases. */
export interface Refused {
  readonly job?: string;
  readonly what: 'bid' | 'lease' | 'release' | 'messages';
}

export const MESSAGES: Refused = { what: 'messages' };
