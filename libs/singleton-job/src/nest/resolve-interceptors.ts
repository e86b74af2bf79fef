import { type RunInterceptor } from '../base/events/run-interceptor.js';
import { isClass } from '../base/text/describe-value.js';

/** The class of a provider that is an interceptor. */
export type InterceptorClass = abstract new (...args: never[]) => RunInterceptor;

/**
 * The interceptors in the options. A class is replaced by its instance in the application: `lookUp` throws if the class
 * is no provider or no singleton. Mistakes are noted and left out.
 */
export function resolveInterceptors(
  interceptors: readonly (RunInterceptor | InterceptorClass)[],
  lookUp: (type: InterceptorClass) => RunInterceptor,
  problems: string[],
): readonly RunInterceptor[] {
  return interceptors.flatMap((interceptor) => {
    if (!isClass(interceptor)) return interceptor;
    try {
      return lookUp(interceptor);
    } catch {
      const { name } = interceptor;
      const fix = `add ${name} to the providers of a module, without a scope, or pass an instance`;
      problems.push(`interceptors must be instances or singleton providers, got the class ${name}: ${fix}`);
      return [];
    }
  });
}
