import { type DecoratedMember } from './decorated-members.js';

/** A decorated member of a provider or controller of the application, not yet checked. */
export interface FoundJob {
  /** What the method is called on; undefined where the container keeps no single instance. */
  readonly host: object | undefined;
  readonly className: string;
  readonly member: DecoratedMember;
  /** The module that provides it, which Nest knows of every provider and controller. */
  readonly module: { readonly name: string } | undefined;
  readonly scope: 'singleton' | 'transient' | 'request' | 'request-by-dependency';
}

/** `Class.method`. */
export function locationOf({ className, member }: FoundJob): string {
  return `${className || '(anonymous class)'}.${String(member.name)}`;
}
