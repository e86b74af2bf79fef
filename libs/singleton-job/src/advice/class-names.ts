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
 *
 * Bundlers append a number where a name is taken in the file, which depends on what else is in it, or put an underscore
 * in front, or the name of the file, as webpack does. A minifier gives names of three letters when those of two are
 * used up: its classes have no line break.
 */
export function whyNotLasting(name: string, declared: string | undefined, source: string): string | undefined {
  if (name === '') return 'the class has no name';
  const isSetLater = declared === undefined ? /[^\p{L}_$]/u.test(name) && !source.includes(name) : declared !== name;
  if (isSetLater) return 'the class got its name at run time, as from mixin() of @nestjs/common';
  if (/^_|\d$|^[a-z]\w*_[A-Z]|^(\w+)_\1$/.test(name))
    return `the class name '${name}' looks like one that a bundler has changed`;
  const longestOfMinifier = source.includes('\n') ? 2 : 3;
  return name.length > longestOfMinifier ? undefined : `the class name '${name}' looks like that of a minifier`;
}
