/** Each folder of the library, from the lowest, and the folders it may import besides itself: the import rule of ARCHITECTURE.md. */
export const LAYERS = {
  base: [],
  advice: ['base'],
  log: ['base'],
  store: ['base', 'advice'],
  schedule: ['base', 'advice'],
  options: ['base', 'advice', 'store'],
  jobs: ['base', 'advice', 'schedule', 'options'],
  leadership: ['base', 'store'],
  locks: ['base', 'advice', 'store', 'options', 'leadership'],
  runs: ['base', 'store', 'schedule', 'options', 'jobs', 'leadership'],
  'heartbeat-thread': ['base', 'store', 'leadership'],
  control: ['base', 'advice', 'log', 'store', 'options', 'jobs', 'leadership', 'locks', 'runs', 'heartbeat-thread'],
  nest: ['base', 'advice', 'options', 'jobs', 'locks', 'control'],
  opentelemetry: ['base', 'control'],
  testing: ['base', 'log', 'store', 'options', 'jobs', 'leadership', 'control', 'nest'],
};
