/**
 * Why a class name may differ between two processes or builds, so that it cannot be part of the name of a job.
 * Undefined: it is lasting.
 *
 * `declared` is the name that the class had when its first job was decorated. Until then its name comes from the
 * source: compilers, and bundlers with `keepNames`, set it before they call decorators. A name that came later was set
 * at run time, which `mixin()` does.
 *
 * `declared` is undefined if the class only inherits its jobs. Then its source shows the name, unless a variable has
 * given it. A name with a digit or a sign that is not there was set at run time.
 */
export function whyNotLasting(name: string, declared: string | undefined, source: string): string | undefined {
  if (name === '') return 'the class has no name';
  const isSetLater = declared === undefined ? /[^\p{L}_$]/u.test(name) && !source.includes(name) : declared !== name;
  if (isSetLater) return 'the class got its name at run time, as from mixin() of @nestjs/common';
  return name.length > 2 ? undefined : `the class name '${name}' looks like that of a minifier`;
}
