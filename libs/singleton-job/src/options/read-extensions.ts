import { type JobObserver, type RunInterceptor } from '../events/index.js';
import { isClass } from './describe-value.js';
import { OptionReader } from './option-reader.js';
import { type ExtensionClass } from './singleton-job.options.js';

interface Extensions {
  readonly observers: readonly (JobObserver | ExtensionClass<JobObserver>)[];
  readonly interceptors: readonly (RunInterceptor | ExtensionClass<RunInterceptor>)[];
}

const KINDS = {
  observers: {
    list: 'a list of observers',
    example: '[MetricsObserver]',
    entry: 'an observer or the class of one',
    contract: 'JobObserver',
  },
  interceptors: {
    list: 'a list of interceptors',
    example: '[TransactionInterceptor]',
    entry: 'an interceptor or the class of one',
    contract: 'RunInterceptor',
  },
} as const;

/** Reads `observers` or `interceptors`. Whether a class is a provider is known only to the container. */
export function readExtensions<K extends keyof Extensions>(
  key: K,
  reader: OptionReader,
  problems: string[],
): Extensions[K] {
  const extensions = reader.get(key);
  const { list, example, entry, contract } = KINDS[key];
  if (extensions === undefined) return Object.freeze([]);
  if (!Array.isArray(extensions)) {
    reader.refuse(key, list, `put it in brackets, as in ${example}`);
    return Object.freeze([]);
  }
  const entries = new OptionReader(extensions, `${key}.`, problems);
  const isExtension = (value: unknown): value is Extensions[K][number] =>
    isClass(value) || (typeof value === 'object' && value !== null && (key === 'observers' || 'intercept' in value));
  extensions.forEach((extension: unknown, index) => {
    if (!isExtension(extension)) entries.refuse(String(index), entry, `see ${contract} for what it implements`);
  });
  return Object.freeze(extensions.filter(isExtension)) as Extensions[K];
}
