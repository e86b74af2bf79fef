/** What `@opentelemetry/api` registers for all its copies of one major version. */
const OPEN_TELEMETRY = Symbol.for('opentelemetry.js.api.1');
/** The key of `suppressTracing()` of `@opentelemetry/core`. */
const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

interface Context {
  setValue(key: symbol, value: unknown): Context;
}

interface ContextManager {
  active(): Context;
  with<R>(context: Context, act: () => R): R;
}

/**
 * Calls a function whose statements have no spans. Each heartbeat would be a trace of its own where a client is
 * instrumented.
 */
export function untraced<R>(act: () => R): R {
  const { [OPEN_TELEMETRY]: api } = globalThis as { [OPEN_TELEMETRY]?: { readonly context?: ContextManager } };
  const manager = api?.context;
  return manager === undefined ? act() : manager.with(manager.active().setValue(SUPPRESS_TRACING, true), act);
}
