/** `mixin()` of @nestjs/common replaces the name of a class by 21 random hexadecimal digits. */
const OF_MIXIN = /^[\da-f]{21}$/;

/**
 * Why a class name may differ between two processes or builds, so that it cannot be part of the name of a job.
 * Undefined: it is lasting.
 *
 * `declared` is the name that the class had when its first job was decorated. Until then its name comes from the
 * source: compilers, and bundlers with `keepNames`, set it before they call decorators. A name that came later was set
 * at run time, which `mixin()` does.
 *
 * `declared` is undefined if the class only inherits its jobs. Then a name of `mixin()` is found by its form, and
 * another name that was set at run time is not found: it looks like one that `keepNames` has set.
 */
export function whyNotLasting(name: string, declared: string | undefined): string | undefined {
  if (name === '') return 'the class has no name';
  if (OF_MIXIN.test(name) || (declared !== undefined && declared !== name)) {
    return 'the class got its name at run time, as from mixin() of @nestjs/common';
  }
  return name.length > 2 ? undefined : `the class name '${name}' looks like that of a minifier`;
}
