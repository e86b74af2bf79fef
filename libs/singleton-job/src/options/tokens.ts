/**
 * The options as the application gave them. Replace this provider in a test to switch the jobs off:
 * `.overrideProvider(SINGLETON_JOB_OPTIONS).useValue({ projectName: 'test', enabled: false })`.
 */
export const SINGLETON_JOB_OPTIONS = Symbol.for(
  // Nest shows this name when it cannot inject a parameter of the factory
  'options of SingletonJobModule; to fix: give forRootAsync() imports with the module that exports what inject names',
);

/** The parsed and checked options, from the provider {@link SINGLETON_JOB_OPTIONS}. */
export const RESOLVED_OPTIONS = Symbol.for('nestjs-singleton-job:resolved-options');
