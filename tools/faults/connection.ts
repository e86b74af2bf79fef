import { connect, type Socket } from 'node:net';
import { Lane, type Verdict } from './lane.js';
import { type Message, readAnswer, readRequest } from './message.js';
import { FrameReader } from './resp.js';

export interface ConnectionParts {
  readonly client: Socket;
  readonly redisPort: number;
  readonly judge: (message: Message) => Verdict;
  readonly passes: (message: Message) => void;
  readonly delayMs: () => number;
  /** The replica has gone, and nothing of it is held back. */
  readonly onClose: () => void;
}

const SUBSCRIPTION = /^p?(un)?subscribe$/;

/** One connection of a replica, and the one to Redis that stands for it. */
export class Connection {
  readonly #client: Socket;
  readonly #redis: Socket;
  readonly #requests: Lane;
  readonly #answers: Lane;
  /** Asked and not answered, oldest first. */
  readonly #asked: Message[] = [];
  #isSubscribed = false;
  #hasAnswered = false;

  constructor({ client, redisPort, onClose, ...lane }: ConnectionParts) {
    this.#client = client.setNoDelay();
    this.#redis = connect({ port: redisPort, host: '127.0.0.1' }).setNoDelay();
    this.#requests = new Lane({ ...lane, to: this.#redis });
    this.#answers = new Lane({ ...lane, to: client });
    this.#read();
    for (const socket of [client, this.#redis]) socket.on('error', () => undefined);
    // what a replica wrote before it went away may still arrive, as on any network
    client.on('close', () => {
      if (this.#requests.isHeld) return;
      onClose();
      void this.#requests.drained.then(() => this.#redis.destroy());
    });
    this.#redis.on('close', () => {
      if (!this.#answers.isHeld) void this.#answers.drained.then(() => client.destroy());
    });
  }

  /** Whether it can carry commands, or messages of releases. */
  get serves(): 'commands' | 'messages' | undefined {
    if (this.#client.destroyed || this.#redis.destroyed || this.#requests.isBroken || this.#answers.isBroken)
      return undefined;
    if (this.#isSubscribed) return 'messages';
    return this.#hasAnswered ? 'commands' : undefined;
  }

  get isOver(): boolean {
    return this.#client.destroyed;
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#redis.resetAndDestroy();
  }

  /** Whatever was held arrives now, though nobody may wait for it any more. What lost something is of no use: it ends. */
  heal(): void {
    const wasBroken = this.#requests.isBroken || this.#answers.isBroken;
    this.#requests.letGo();
    this.#answers.letGo();
    if (this.#requests.isBroken || this.#answers.isBroken) this.reset();
    else if (wasBroken && this.#client.destroyed) void this.#requests.drained.then(() => this.#redis.end());
    else if (wasBroken && this.#redis.destroyed) void this.#answers.drained.then(() => this.#client.destroy());
  }

  #read(): void {
    const requests = new FrameReader();
    this.#client.on('data', (chunk: Buffer) => {
      for (const { value, bytes } of requests.read(chunk)) {
        const message = readRequest(value, bytes);
        // answered by a push
        if (!SUBSCRIPTION.test(message.command)) this.#asked.push(message);
        this.#requests.send(message);
      }
    });
    const answers = new FrameReader();
    this.#redis.on('data', (chunk: Buffer) => {
      for (const { value, bytes, isPush } of answers.read(chunk))
        this.#answers.send(this.#answer(value, bytes, isPush));
    });
  }

  #answer(value: Parameters<typeof readAnswer>[0], bytes: Buffer, isPush: boolean): Message {
    if (isPush) {
      this.#isSubscribed = true;
      return { direction: 'answer', command: 'message', bytes };
    }
    this.#hasAnswered = true;
    const asked = this.#asked.shift();
    if (asked === undefined) return { direction: 'answer', command: 'stray', bytes };
    return readAnswer(value, bytes, asked);
  }
}
