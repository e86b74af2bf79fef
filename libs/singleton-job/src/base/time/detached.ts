import { AsyncResource } from 'node:async_hooks';

class Context extends AsyncResource {
  constructor() {
    super('nestjs-singleton-job');
  }

  /** It keeps no process alive. Jest asks for this before it reports an open handle. */
  hasRef(): boolean {
    return false;
  }
}

const whereLoaded = new Context();
const makeContext = (): Context => new Context();

/**
 * Calls a function in the async context in which this library was loaded. That is an empty one, unless it was imported
 * in a request or a span. Whatever goes on by itself begins by this: otherwise it would keep the context of the caller
 * that happened to start it, such as a request with all its data.
 */
export function detached<R>(act: () => R): R {
  // of its own: on Node 20 `enterWith()` would change the context of all calls
  return madeDetached(makeContext).runInAsyncScope(act);
}

/** The same for what only makes an async resource, such as a timer: that has a context of its own. */
export function madeDetached<R>(make: () => R): R {
  return whereLoaded.runInAsyncScope(make);
}
