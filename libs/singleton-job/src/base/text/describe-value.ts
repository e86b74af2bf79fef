import { inspect } from 'node:util';
import { publicPart } from './secrets.js';

const MAX_TEXT_LENGTH = 60;

/** Signs of a connection, to whatever option it was given. */
const MAY_HAVE_SECRET = /:\/\/|\S@|(pass\w*|pwd|secret|token|key)["']?\s*[=:]/i;

/** A value for a message: short and on one line. The contents of objects may be secret and are left out. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return MAY_HAVE_SECRET.test(value) ? describeConnection(value) : quote(value);
  if (isClass(value)) return `the class ${value.name || '(anonymous)'}`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? describeObject(value) : inspect(value);
}

/** The same for a value that was given as a connection, or as a part of one: a text may have a password anywhere. */
export function describeConnection(value: unknown): string {
  if (typeof value !== 'string') return describeValue(value);
  const shown = publicPart(value);
  return shown === undefined && value !== '' ? `a text of ${value.length} characters` : quote(shown ?? value);
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
  const shown = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
  // line breaks and other control characters become visible
  return `'${JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"')}'`;
}

function describeObject(value: object | null): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isPlainObject(value)) return 'an object';
  const name = (Object.getPrototypeOf(value) as object).constructor.name;
  return `an instance of ${name || 'an anonymous class'}`;
}
