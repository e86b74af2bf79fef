/** The descriptor of a member, its own or inherited. No getter is called. */
export function descriptorOf(prototype: object, name: string | symbol): PropertyDescriptor | undefined {
  for (const level of levelsOf(prototype))
    if (Object.hasOwn(level, name)) return Object.getOwnPropertyDescriptor(level, name);
  return undefined;
}

/** The class that a prototype belongs to. */
export function classOf(prototype: object): { readonly name: string } {
  const constructor: unknown = descriptorOf(prototype, 'constructor')?.value;
  return typeof constructor === 'function' ? constructor : Object;
}

/** Its name. Empty: it has none, or a static member that is called `name` and is no text. */
export function classNameOf(prototype: object): string {
  const { name }: { readonly name: unknown } = classOf(prototype);
  return typeof name === 'string' ? name : '';
}

/** A prototype and those that it inherits from, without that of all objects. */
export function levelsOf(prototype: object): readonly object[] {
  const levels: object[] = [];
  let level: object | null = prototype;
  for (; level !== null && level !== Object.prototype; level = Object.getPrototypeOf(level) as object | null)
    levels.push(level);
  return levels;
}
