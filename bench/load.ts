import { type StoredJob } from './contestants/time-to-lead.js';

/** What clients cost a server of one kind, per second of a window. */
export interface Load {
  readonly spent: (url: string, windowMs: number) => Promise<Spent>;
  readonly commands: (url: string, windowMs: number) => Promise<Commands>;
  /** The jobs of this library. Rejects while the server is down. */
  readonly stored: (url: string) => Promise<readonly StoredJob[]>;
}

export interface Spent {
  readonly cpuMs: number;
  /** How often Redis has read a socket: once for all commands that arrive together. PostgreSQL does not count it. */
  readonly reads?: number;
  /** To the server and from it. PostgreSQL does not count them. */
  readonly sentKb?: number;
  readonly answeredKb?: number;
}

export interface Commands {
  /** What clients send. */
  readonly sent: number;
  /** What Redis executes inside the scripts that they send. PostgreSQL does not count it. */
  readonly inScripts?: number;
}
