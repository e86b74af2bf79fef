import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { nowMs } from './events.js';

/** Redis dates commands by the wall clock, and events are dated by the monotonic one. */
const WALL_CLOCK_AHEAD_MS = performance.timeOrigin + performance.now() - nowMs();

/** A command that a client sent. Commands that scripts execute are not of this kind. */
export interface Command {
  /** When Redis executed it, on the clock of `nowMs()`. */
  readonly atMs: number;
  /** Name of the connection, which is that of the replica. */
  readonly from: string;
  /** Such as `ping` or `evalsha`. */
  readonly name: string;
  /** Of a script. */
  readonly sha?: string;
  /** The lock that a script is about. */
  readonly lock?: string;
}

/**
 * What MONITOR shows. It must be opened before the replicas start, because it learns two things as they do: the names of the
 * connections (CLIENT SETNAME), and what each script is for. That is seen from what its executions do, so no version of the
 * library needs to be known: the script that writes a `…:lock` key with SET is the one that acquires.
 */
export class CommandLog implements Disposable {
  readonly commands: Command[] = [];
  readonly #connectionNames = new Map<string, string>();
  readonly #effects = new Map<string, Set<string>>();
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      this.#read(line);
    });
  }

  static async open(port: number): Promise<CommandLog> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined); // Redis may be killed
    await once(socket, 'connect');
    socket.write('MONITOR\r\n');
    return new CommandLog(socket);
  }

  /** The commands of replicas in a window. */
  between(fromMs: number, toMs: number): Command[] {
    return this.commands.filter(({ atMs, from }) => from !== '' && atMs >= fromMs && atMs < toMs);
  }

  /** What a command is for: its name, or the purpose of its script. */
  kindOf({ name, sha }: Command): string {
    if (sha === undefined) return name;
    const effects = this.#effects.get(sha) ?? new Set();
    if (effects.has('set lock')) return 'acquire';
    if (effects.has('del lock')) return 'release';
    if (effects.has('zadd sessions')) return 'heartbeat';
    if (effects.has('hset by')) return 'claim';
    if (effects.has('pexpire lock')) return 'renew';
    return `script ${sha.slice(0, 6)}`;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** A line such as `+1339518083.107412 [0 127.0.0.1:60866] "evalsha" "…" "2" "bench:tick:lock" …`; of a script `[0 lua]`. */
  #read(line: string): void {
    const [, seconds, source, rest] = /^\+([\d.]+) \[\d+ ([^\]]+)\] (.*)$/.exec(line) ?? [];
    if (source === undefined || rest === undefined) return;
    const args = rest.split(/(?<=(?<!\\)") (?=")/).map((arg) => arg.slice(1, -1));
    const name = args[0]?.toLowerCase() ?? '';
    if (source === 'lua') this.#learn(name, args);
    else this.#add({ atMs: Number(seconds) * 1_000 - WALL_CLOCK_AHEAD_MS, source, name }, args);
  }

  #add({ atMs, source, name }: { atMs: number; source: string; name: string }, args: readonly string[]): void {
    if (name === 'client' && args[1]?.toLowerCase() === 'setname') {
      this.#connectionNames.set(source, args[2] ?? '');
    }
    const from = this.#connectionNames.get(source) ?? '';
    const command = { atMs, from, name };
    if (name !== 'eval' && name !== 'evalsha') {
      this.commands.push(command);
      return;
    }
    const script = args[1] ?? '';
    const sha = name === 'evalsha' ? script : createHash('sha1').update(unescape(script)).digest('hex');
    const lock = args.slice(3, 3 + Number(args[2])).find((key) => key.endsWith(':lock'));
    this.commands.push({ ...command, sha, ...(lock === undefined ? {} : { lock }) });
  }

  /** Commands of a script follow the EVALSHA that executes it. */
  #learn(name: string, args: readonly string[]): void {
    const sha = this.commands.at(-1)?.sha;
    if (sha === undefined) return;
    const effects = this.#effects.get(sha) ?? new Set<string>();
    this.#effects.set(sha, effects);
    if (args[1]?.endsWith(':lock') === true) effects.add(`${name} lock`);
    if (args[1]?.endsWith(':sessions}') === true) effects.add(`${name} sessions`);
    if (name === 'hset' && args.includes('by')) effects.add('hset by');
  }
}

/** MONITOR writes strings as C does; JSON has the same escapes for what occurs in a script. */
function unescape(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}
