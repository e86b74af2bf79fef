import { text } from './option-types.js';

/**
 * Names of projects and jobs are part of keys and channels: `{project}:{job}:job`. Locks of `LockService` have
 * `{project}:{key}:lock`.
 */
const FORBIDDEN_IN_NAME = /[{}:/\s\p{Cc}]/u;

/** In a holder, `#` separates the lease from the attempt. */
const FORBIDDEN_IN_NODE_ID = /[#\s\p{Cc}]/gu;

export const NAME_RULE = 'a name without braces, colons, slashes, spaces and control characters';

/** Whether it can be the name of a project or a job. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !FORBIDDEN_IN_NAME.test(value);
}

/** `nodeId`. */
export const nodeId = text(
  (value): value is string => typeof value === 'string' && value !== '' && value === toNodeId(value),
  "a text, not empty, without '#', spaces and control characters",
  'leave it out to use POD_NAME or the name of the host; a random part is appended',
);

/** A text as a node id: each character that a node id must not have becomes `-`. */
export function toNodeId(text: string): string {
  return text.replaceAll(FORBIDDEN_IN_NODE_ID, '-');
}
