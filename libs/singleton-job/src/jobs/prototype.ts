/** The descriptor of a member, its own or inherited. No getter is called. */
export function descriptorOf(prototype: object, name: string | symbol): PropertyDescriptor | undefined {
  const level = [...levelsOf(prototype)].find((each) => Object.hasOwn(each, name));
  return level && Object.getOwnPropertyDescriptor(level, name);
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

/** A prototype and those that it inherits from. */
export function* levelsOf(prototype: object): Generator<object> {
  for (let level: object | null = prototype; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    yield level;
  }
}
