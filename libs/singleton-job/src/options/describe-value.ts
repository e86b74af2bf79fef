const LONGEST_TEXT = 60;

/** A value as a message shows it: on one line, short, and without the contents of objects, which may be secret. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
    case 'boolean':
    case 'undefined':
    case 'symbol':
      return String(value);
    case 'bigint':
      return `${String(value)}n`;
    case 'function':
      return isClass(value) ? `the class ${value.name || '(anonymous)'}` : 'a function';
    case 'object':
      return describeObject(value);
  }
}

/** A text that is meant to be a URL, without user, password and query. */
export function describeUrl(text: string): string {
  return withoutCredentials(text).replace(/\?.*$/s, '?…');
}

/** The first items of a list, and how many others there are. */
export function listSome(items: readonly string[], most: number): string {
  const others = items.length - most;
  return `${items.slice(0, most).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** Whether `new` works on it. Arrow functions and methods are no classes; plain functions look like one. */
export function isClass(value: unknown): value is abstract new (...args: never[]) => unknown {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

/** An object with options in it: of a literal or of a class, but no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object that was made by a literal. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // objects of another realm, such as a test runner's, have an Object.prototype of their own
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function quote(text: string): string {
  const harmless = withoutCredentials(text);
  const shown = harmless.length > LONGEST_TEXT ? `${harmless.slice(0, LONGEST_TEXT)}…` : harmless;
  // line breaks and other control characters become visible
  return `'${JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"')}'`;
}

/** Before an @ there may be a password. */
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
