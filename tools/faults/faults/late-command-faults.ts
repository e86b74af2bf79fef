import { connect } from 'node:net';
import { type Fault, type Field, happened, tooLate, victim } from '../fault.js';
import { PROJECT } from '../fleet.js';
import { type Message, type ScriptName } from '../message.js';
import { encode, FrameReader, type RespValue } from '../resp.js';
import { LEASE } from '../settings.js';

const JOB = 'cron';

export interface LateCommand {
  readonly command: ScriptName;
  /** It arrives late only, or in time and a second time. */
  readonly how: 'late' | 'twice';
}

export const LATE_COMMANDS: readonly LateCommand[] = (['acquire', 'renew', 'claim', 'release'] as const).flatMap(
  (command) => (['late', 'twice'] as const).map((how) => ({ command, how })),
);

/** A command of a term that has ended arrives, on a connection of its own, while somebody else leads. */
export function arrives({ command, how }: LateCommand): Fault {
  return {
    name: `${command} arrives ${how} after its term`,
    bound: LEASE,
    strike: async (field) => {
      const { fleet } = field;
      const old = victim(field, JOB);
      // the process that will send the command stops when it has, and its term ends
      const caught = catchFirst(field, command, how);
      if (command === 'acquire' || command === 'release') await old.replica.terminate();
      const { message, slot } = await caught;
      const { holder } = message;
      if (slot.replica.exit === undefined && command !== 'acquire') await slot.replica.terminate();
      for (const other of fleet.slots) if (other.replica.exit !== undefined) other.start();
      await fleet.until('another leads', () => fleet.leadership.of(JOB).length === 1);
      await fleet.calm();
      if (command === 'acquire') await endTermOf(field, holder ?? '');

      const { before, answer, after } = await deliver(fleet.redis.port, message.bytes);
      happened('another holds the lock', before.holder !== undefined && before.holder !== holder);
      happened('Redis carried it out', Array.isArray(answer));
      const isUnharmed = after.holder === before.holder && after.token === before.token && after.last >= before.last;
      if (!isUnharmed) {
        throw new Error(`a late ${command} did harm: ${JSON.stringify(before)} became ${JSON.stringify(after)}`);
      }
    },
  };
}

export const LATE_COMMAND: Fault = {
  name: 'late or doubled command of an ended term',
  bound: LEASE,
  strike: (field) => arrives(field.chance.pick(LATE_COMMANDS as [LateCommand, ...LateCommand[]])).strike(field),
};

interface Caught {
  readonly message: Message;
  readonly slot: Field['fleet']['slots'][number];
}

/** The first such command of any replica, on its way to Redis. */
async function catchFirst({ fleet }: Field, command: ScriptName, how: LateCommand['how']): Promise<Caught> {
  const gone = new AbortController();
  let isCaught = false;
  const catches = fleet.slots.map(async (slot): Promise<Caught> => {
    const message = await slot.proxy.catch((message) => {
      const { direction, job } = message;
      if (isCaught || direction !== 'request' || message.command !== command || job !== JOB) return undefined;
      isCaught = true;
      return how === 'late' ? 'lose' : 'pass';
    }, gone.signal);
    return { message, slot };
  });
  try {
    return await Promise.race([...catches, tooLate(`a ${command} came by`, gone)]);
  } finally {
    gone.abort();
  }
}

/** Whoever made the bid may lead by it now: then it hands over. */
async function endTermOf({ fleet }: Field, holder: string): Promise<void> {
  const slot = fleet.slots.find(({ replica }) => holder.startsWith(`${replica.name}-`));
  if (slot === undefined || fleet.leadership.of(JOB)[0] !== slot.replica.name) return;
  await slot.replica.terminate();
  slot.start();
  await fleet.calm();
}

interface LockState {
  readonly holder: string | undefined;
  readonly token: number;
  readonly last: number;
}

/** Looks, and carries out the command, in one step of Redis: between them nothing happens, and no lock runs out. */
async function deliver(port: number, command: Buffer) {
  const lock = `${PROJECT}:${JOB}:lock`;
  const look = [encode('GET', lock), encode('HMGET', `{${lock}}:state`, 'token', 'last')];
  const [holderBefore, before, answer, holderAfter, after] = await transaction(port, [...look, command, ...look]);
  return { before: lockState(holderBefore, before), answer, after: lockState(holderAfter, after) };
}

function lockState(holder: RespValue, fields: RespValue): LockState {
  const [token, last] = fields as readonly RespValue[];
  return { holder: typeof holder === 'string' ? holder : undefined, token: Number(token), last: Number(last) };
}

/** The answers to these requests, which are carried out as one. */
function transaction(port: number, requests: readonly Buffer[]): Promise<readonly RespValue[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const frames = new FrameReader();
    const answers: RespValue[] = [];
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      answers.push(...frames.read(chunk).map(({ value }) => value));
      // MULTI and each request are acknowledged before EXEC answers
      if (answers.length < requests.length + 2) return;
      socket.destroy();
      const results = answers.at(-1);
      if (Array.isArray(results)) resolve(results as readonly RespValue[]);
      else reject(new Error(`Redis did not carry it out: ${JSON.stringify(answers)}`));
    });
    socket.write(Buffer.concat([encode('MULTI'), ...requests, encode('EXEC')]));
  });
}
