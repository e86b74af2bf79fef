/** Projects and jobs are named in keys and channels: `{project}:{job}:lock`, `lock/{key}` for locks that are no job's. */
const FORBIDDEN_IN_NAME = /[{}:/\s\p{Cc}]/u;

/** `#` parts the process from the attempt in a holder value, and a space parts the holder from its token. */
const FORBIDDEN_IN_NODE_ID = /[#\s\p{Cc}]/gu;

export const NAME_RULE = 'a name without braces, colons, slashes, spaces and control characters';

export const NODE_ID_RULE = "a text, not empty, without '#', spaces and control characters";

/** Whether it can be the name of a project or a job. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !FORBIDDEN_IN_NAME.test(value);
}

export function isNodeId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value === toNodeId(value);
}

/** The name of this host, changed to fit the rule for names. */
export function toNodeId(text: string): string {
  return text.replaceAll(FORBIDDEN_IN_NODE_ID, '-');
}
