import 'reflect-metadata';
import { InvalidJobsError } from '../base/errors/mistakes.errors.js';
import { levelsOf } from './prototype.js';

const STANDARD_DECORATORS =
  'decorators must be compiled as for Nest, got standard decorators: set experimentalDecorators: true in the compilerOptions ' +
  'of the tsconfig.json that your build reads, or legacyDecorator: true in jsc.transform of .swcrc';

type Recorded<T> = Map<string | symbol, readonly T[]>;

/**
 * What decorators record about the members of a class. It is kept by prototype and method name, not on the function,
 * which a wrapper or an override replaces. The symbol is registered, so that two copies of this package find what the
 * other one has recorded.
 */
export class MemberMetadata<T> {
  readonly #key: symbol;

  constructor(what: string) {
    this.#key = Symbol.for(`nestjs-singleton-job:${what}`);
  }

  /** Records a decorator of a member of `target`: a prototype, or a class if the member is static. */
  record(target: object, member: string | symbol, value: T): void {
    // a standard decorator gets an object that describes the member
    if (typeof member === 'object') throw new InvalidJobsError([STANDARD_DECORATORS]);
    // one map for all members: a copy for each would cost 36 MB for a class of 1,000 jobs
    const own = this.#own(target) ?? new Map<string | symbol, readonly T[]>();
    // innermost decorator first, the order in which decorators are applied. A spread would leave room for 16 more
    own.set(member, (own.get(member) ?? []).concat([value]));
    Reflect.defineMetadata(this.#key, own, target);
  }

  /** Every decorated member of `target` and its base classes, with the decorators of its last declaration. */
  of(target: object): ReadonlyMap<string | symbol, readonly T[]> {
    return new Map(
      levelsOf(target)
        .toReversed()
        .flatMap((level) => [...(this.#own(level) ?? [])]),
    );
  }

  /** Undefined: no member of this level has a decorator, as in most classes of an application. */
  #own(target: object): Recorded<T> | undefined {
    return Reflect.getOwnMetadata(this.#key, target) as Recorded<T> | undefined;
  }
}
