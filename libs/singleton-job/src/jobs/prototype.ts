/** The descriptor of a member, its own or inherited. No getter is called. */
export function descriptorOf(prototype: object, name: string | symbol): PropertyDescriptor | undefined {
  for (const level of levelsOf(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(level, name);
    if (descriptor !== undefined) return descriptor;
  }
  return undefined;
}

/** The class that a prototype belongs to. */
export function classOf(prototype: object): { readonly name: string } {
  const constructor: unknown = descriptorOf(prototype, 'constructor')?.value;
  return typeof constructor === 'function' ? constructor : Object;
}

/** A prototype and those that it inherits from. */
export function* levelsOf(prototype: object): Generator<object> {
  for (let level: object | null = prototype; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    yield level;
  }
}

/** The names of the methods of an object, its own and inherited. No getter is called. */
export function methodNamesOf(object: object): readonly string[] {
  const names = new Set([...levelsOf(object)].flatMap((level) => Object.getOwnPropertyNames(level)));
  return [...names].filter((name) => typeof descriptorOf(object, name)?.value === 'function');
}
