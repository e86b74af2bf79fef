import 'reflect-metadata';
import { FixedRate } from 'nestjs-singleton-job';
import { type Store } from 'nestjs-singleton-job/store';
import { type InMemoryReplica, InMemoryReplicas } from 'nestjs-singleton-job/testing';
import { jobClasses } from './job-classes.js';
import { timesToLead, untilLed } from './time-to-lead.js';

/**
 * `node simulated.js JOBS REPLICAS WINDOW_MS REPEATS` plays replicas of this library in one process, on a manual clock
 * and with a store in memory, 0.5 ms away. It prints the columns of `growth` as JSON.
 */
const [jobCount = 1, count = 1, windowMs = 1, repeats = 1] = process.argv.slice(2).map(Number);

/** What the types of the package leave out. */
interface Inside {
  readonly parts: { readonly store: Required<Store> };
  readonly services: { readonly observers: unknown[]; readonly replica: { readonly context: RandomParts } };
}
interface RandomParts {
  random: () => number;
  readonly heartbeat: { random: () => number };
}

/** The commands of a request on Redis, and the bytes of its script, which each EVAL sends. */
const REQUESTS = { sync: [2, 1_800], compareAndSet: [1, 1_200], publish: [1, 0] } as const;
/** How often each replica checks with a command that hints arrive. */
const CHECK_MS = 3_000;
/** By then V8 has compiled what runs often. */
const SETTLED_MS = 10_000;

// as long as a key of Redis is
const jobs = Array.from({ length: jobCount }, (_, i) => ({ name: `key-prefix-job-${i}`, periodMs: 500 }));
const classes = jobClasses(
  jobs.map((job) => ({ ...job, run: () => Promise.resolve() })),
  ({ run }) => run,
  ({ name, periodMs }) => FixedRate(periodMs, { name }),
);
const all = new InMemoryReplicas();
const { clock, server } = all;
const replicas: InMemoryReplica[] = [];
let [commands, sent, answered] = [0, 0, 0];

function add(): void {
  const instances = classes.map((Jobs) => new Jobs() as object);
  const replica = all.start(`r${replicas.length + 1}-1a2b3c4d`, instances);
  replicas.push(replica);
  const { parts, services } = replica as unknown as Inside;
  services.observers.length = 0;
  const { context } = services.replica;
  context.random = context.heartbeat.random = Math.random;
  const { store } = parts;
  for (const [kind, [many, script]] of Object.entries(REQUESTS)) {
    const send = store[kind as keyof typeof REQUESTS].bind(store) as (request: unknown) => Promise<unknown>;
    const overNetwork = async (request: unknown): Promise<unknown> => {
      await clock.sleep(0.5);
      const answer = await send(request);
      commands += many;
      sent += script + bytesOf(request);
      answered += kind === 'publish' ? count * bytesOf(request) : bytesOf(answer);
      await clock.sleep(0.5);
      return answer;
    };
    Object.assign(store, { [kind]: overNetwork });
  }
}

/** About as the protocol of Redis has it: each text with its length, and no names of fields. */
function bytesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return String(value).length + 7;
  const parts = value instanceof Map ? [...value].flat() : Object.values(value);
  return parts.reduce((sum: number, part) => sum + bytesOf(part), 0);
}

async function restart(): Promise<void> {
  for (const replica of replicas) replica.partition();
  await clock.advance(200);
  server.restart(server.snapshot());
  // clients connect again at random moments
  for (const replica of replicas) clock.setTimer(Math.random() * 100, replica.heal.bind(replica));
}

const fleet = {
  jobs: jobCount,
  now: clock.wallNow.bind(clock),
  sleep: clock.advance.bind(clock),
  stored: () => Promise.resolve([...server.snapshot().records.values()]),
  kill: (node: string) => replicas.find(({ name }) => name.startsWith(`${node}-`))?.kill(),
  add,
  restart,
};

const startedAtMs = clock.wallNow();
for (let i = 0; i < count; i++) add();
const coldMs = await untilLed(fleet, startedAtMs);
await clock.advance(SETTLED_MS);
[commands, sent, answered] = [(count * windowMs) / CHECK_MS, 0, 0];
const before = process.cpuUsage();
await clock.advance(windowMs);
const { user, system } = process.cpuUsage(before);
const cells = {
  'commands per s': [(commands / windowMs) * 1_000],
  'kB per s to the server': [sent / windowMs],
  'kB per s from the server': [answered / windowMs],
  'CPU of each, ms per s': [(user + system) / count / windowMs],
  ...(await timesToLead(fleet, coldMs, repeats)),
};
console.log(JSON.stringify(cells));
