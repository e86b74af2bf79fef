import { succeeds } from './option-table.js';

/** Of three letters, except those that everybody reads as Node does: `CET` has the summer time of Europe. */
const ABBREVIATION = /^(?!UTC|UCT|GMT|[CEMW]ET|PRC|RO[CK])[A-Z]{3}$/i;

const OFFSET = /^(?:UTC|GMT)?[+-]\d\d?(?::?\d\d)?$/i;

/**
 * Whether this Node knows it as the name of a time zone. False for offsets such as '+08:00', which have no summer time,
 * and for abbreviations: to Node BST is that of Bangladesh, and EST has no summer time.
 */
export function isTimeZone(value: unknown): value is string {
  // only some versions of Node.js accept an offset, and replicas must not differ
  if (typeof value !== 'string' || OFFSET.test(value) || ABBREVIATION.test(value)) return false;
  return succeeds(() => new Intl.DateTimeFormat('en', { timeZone: value }));
}
