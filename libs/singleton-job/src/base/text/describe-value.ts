import { inspect } from 'node:util';

const LONGEST_TEXT = 60;

/** A value for a message: short and on one line. The contents of objects may be secret and are left out. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (isClass(value)) return `the class ${value.name || '(anonymous)'}`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? describeObject(value) : inspect(value);
}

/** A text that should be a URL, without user, password and query, which may contain a password too. */
export function describeUrl(text: string): string {
  return withoutCredentials(text).replace(/\?.*$/s, '?…');
}

/** The first items of a list, and how many others there are. */
export function listSome(items: readonly string[], most: number): string {
  const others = items.length - most;
  return `${items.slice(0, most).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** Whether `new` works on it. True for plain functions too; false for arrow functions and methods. */
export function isClass(value: unknown): value is abstract new (...args: never[]) => unknown {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

/** Whether it is an object with options: a literal or an instance of a class, but not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it was created by an object literal. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // objects of another realm, as in a test runner, have another Object.prototype
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function quote(text: string): string {
  const harmless = /^\w+:\/\//.test(text) ? describeUrl(text) : withoutCredentials(text);
  const shown = harmless.length > LONGEST_TEXT ? `${harmless.slice(0, LONGEST_TEXT)}…` : harmless;
  // line breaks and other control characters become visible
  return `'${JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"')}'`;
}

/** The text before an @ may contain a password. */
function withoutCredentials(text: string): string {
  return text.replace(/^(\w+:\/\/)?.+@/s, '$1…@');
}

function describeObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isPlainObject(value)) return 'an object';
  const name = (Object.getPrototypeOf(value) as object).constructor.name;
  return `an instance of ${name || 'an anonymous class'}`;
}
