import { type LockStoreError } from '../errors/index.js';

/**
 * A named lock for each job, its state beside it, and a way to hear of releases.
 *
 * **Three answers.** A method that resolves has a *certain* answer, yes or no. One that rejects says *unknown*: the
 * command may have been carried out, may never be, or may be carried out later. An implementation never turns a failure
 * into "no", never repeats a command by itself, and need not limit how long it waits: callers do. A rejection with a
 * `LockStoreError` says more: what it will take (`code`), and whether the command left the process (`wasSent`).
 *
 * **One step each.** Every method is one atomic step of the store: nothing else happens between its check and its write.
 *
 * **Nothing is lowered.** `token`, `last`, `ran` and `end` are only ever raised, so that a command that arrives late
 * can undo nothing. (A changed schedule forgets `end`.)
 *
 * Times in answers are milliseconds since the epoch by the *store's* clock. Names are unique within a project; one store
 * that serves several projects keeps them apart itself.
 */
export interface LockStore {
  /**
   * Bids for a lock: takes it if it is free, or if it already holds this very `holder` value (the answer to an earlier
   * try was lost), which restarts its expiry and returns the same token.
   */
  acquire(bid: Bid): Promise<Grant | Refusal>;

  /** Restarts the expiry of a lock that `holder` has, and records its progress. A stranger's renewal changes nothing. */
  renew(renewal: Renewal): Promise<RenewalAnswer>;

  /**
   * Takes a cron occurrence for the holder of the lock, right before its run, so that no other replica starts it.
   * Also restarts the expiry, whatever it answers, if `holder` has the lock.
   */
  claim(claim: Claim): Promise<ClaimAnswer>;

  /**
   * Frees a lock that `holder` has, and records its progress. Freeing what somebody else holds does nothing, and is answered for
   * any name, also one that never had a lock or a state: a store that may be gone is probed so, with names of nobody (`probe/N`).
   * Wakes the followers unless `quietly`; telling them must not make a release fail.
   */
  release(release: Release): Promise<ReleaseAnswer>;

  /** Wakes the followers of locks that were released `quietly`. */
  announce(by: string, names: readonly string[]): Promise<void>;

  /**
   * Runs `send`, which calls other methods of the store, and lets what they write leave together. Heartbeats of a
   * thousand jobs are then one packet instead of a thousand.
   */
  batch(send: () => void): void;

  /** Tells `listener` from now on; returns how to stop that. */
  listen(listener: LockStoreListener): () => void;

  /** Whether releases are heard of at the moment. While they are not, followers ask at every heartbeat. */
  readonly hearsReleases: boolean;

  /** Begins to connect. Neither waits for the connection nor fails for want of one. */
  open(): void;

  /** Ends the connections and everything that would keep the process alive. Later calls reject. */
  close(): Promise<void>;
}

/** A replica as it stands in a lock: `nodeId-random#attempt`. The part before the `#` is one process, see {@link ownerOf}. */
export type Holder = string;

export interface Bid {
  readonly name: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  /** Kind, and hash of kind, expression and zone, as `cron:1f2e…`: a change forgets when the last interval run ended and moves `last` to now. */
  readonly schedule: string;
  /** Highest fencing token of this lock that the process has seen; 0 if none. The new one is higher, also after data loss. */
  readonly seenToken: number;
  /**
   * Newest `last` that the process has seen, or its last sight of a foreign holder, whichever is later; 0 if none. A bid that is
   * refused raises `last` to it too, and `ran` to `seenRan`: the bidder may be the last that knows of a claim which a
   * failover lost. Not where there is no `last`, or the holder is a foreign one, which keeps no account.
   */
  readonly seenLast: number;
  /** Newest `ran` that the process has seen; 0 or left out if none. Where the store has no state any more, it begins with it. */
  readonly seenRan?: number;
  /** Schedule of the state that the process has seen last, if it was not its own. A state that is gone counts as having had it. */
  readonly seenSchedule?: string;
  /** For a lock that is no job's: its state is forgotten this long after it was last granted. Left out: never. */
  readonly stateTtlMs?: number;
}

/** The lock is ours. */
export interface Grant {
  readonly granted: true;
  /** max(stored + 1, the store's time, `seenToken` + 1); the same again for a repeated bid. */
  readonly token: number;
  /** Newest occurrence or slot claimed, reported or fired. */
  readonly last: number;
  /**
   * Newest occurrence settled: its run began, or it was reported. Below `last`: somebody claimed and did not get to run, or,
   * if nobody claimed `last`, the store lost its data and this is the newest `ran` that the first bidder had seen.
   */
  readonly ran: number;
  /** Holder and token of the claimer of `last`, as `holder token`; '' if it was not claimed. */
  readonly by: string;
  /** How long ago the last interval run ended; undefined if that is not known. */
  readonly endAgeMs: number | undefined;
  /** When the state of this lock was created. A later one than before means that the store lost its data. */
  readonly born: number;
  readonly time: number;
  /**
   * What a bid, this or an earlier one, found and replaced by raising `last`. Every leader is told until a progress with a
   * `ran` that is not below the one stored says that somebody has accounted for it: a grant may never be spent.
   */
  readonly raisedFrom: Replaced | undefined;
}

/** The state of a job as its last leader left it. */
export interface Replaced {
  readonly last: number;
  readonly ran: number;
  readonly by: string;
  readonly schedule: string;
  /** Whether it was replaced because the schedule changed, since then or again. */
  readonly hasChanged: boolean;
}

/** Somebody else has the lock. */
export interface Refusal {
  readonly granted: false;
  readonly holder: Holder;
  /** How long the lock lives unless it is renewed. */
  readonly ttlMs: number;
  /** 0 while there is no state: the lock is held by somebody who keeps none. */
  readonly token: number;
  readonly last: number;
  /** Newest occurrence settled; of what was replaced, while nobody has accounted for that. */
  readonly ran: number;
  readonly born: number;
  readonly time: number;
  /** The lock had no time to live, and would have stayed for ever; it was given `lockExpiryMs`. */
  readonly mended: boolean;
  /** As in {@link Bid.schedule}, of whoever led last; '' while there is no state. */
  readonly schedule: string;
}

/** What a leader has to tell the store; each field only when it changed since the last confirmation. */
export interface Progress {
  /** Newest occurrence settled; `last` is raised with it. */
  readonly ran?: number;
  /** How long ago the last interval run ended, when this was sent. */
  readonly endAgeMs?: number;
  /** Newest occurrence or slot known to be claimed or fired. Travels with a release only. */
  readonly last?: number;
}

export interface Renewal {
  readonly name: string;
  readonly holder: Holder;
  readonly lockExpiryMs: number;
  readonly progress: Progress;
}

export interface RenewalAnswer {
  /** False is certain: the lock is not, and under this holder value never again, ours. */
  readonly held: boolean;
  readonly time: number;
}

export interface Claim extends Renewal {
  readonly token: number;
  readonly scheduledAt: number;
}

/**
 * - `claimed`: ours now.
 * - `mine`: ours since an earlier try of the same claim whose answer was lost. Go on.
 * - `taken`: it, or a newer one, was claimed, reported or fired before.
 * - `too-early`: more than a minute ahead of the store's clock. Nothing was claimed.
 * - `not-leader`: the lock is not ours.
 */
export type ClaimOutcome = 'claimed' | 'mine' | 'taken' | 'too-early' | 'not-leader';

export interface ClaimAnswer {
  readonly outcome: ClaimOutcome;
  readonly last: number;
  readonly time: number;
}

export interface Release {
  readonly name: string;
  readonly holder: Holder;
  readonly progress: Progress;
  readonly quietly: boolean;
}

export interface ReleaseAnswer {
  /** False: it was not ours any more. */
  readonly released: boolean;
  readonly time: number;
}

export interface LockStoreListener {
  /** Locks were released. Delivered at most once, and not at all while `hearsReleases` is false. */
  released?(message: ReleaseMessage): void;
  /** Releases are heard of from now on, perhaps again: what was said before is lost. */
  hearing?(): void;
  /** Releases are not heard of any more: whoever sleeps until it hears one must ask. */
  deaf?(): void;
  /**
   * Releases cannot be told or heard of until a person mends it (a channel that is not permitted, say). Locks work all
   * the same; followers find out at a heartbeat, or when a lock would have expired.
   */
  refused?(error: LockStoreError): void;
  /**
   * The store may drop a lock before its time, when its memory is full: by this policy, or by one that is not shown to us.
   * Told at most once, soon after the store was first reached.
   */
  mayEvict?(policy: string | undefined): void;
  /** The store can be asked again after a time in which it could not. */
  reachable?(): void;
}

export interface ReleaseMessage {
  /** Who released: the part of the holder before the `#`. */
  readonly by: string;
  readonly names: readonly string[];
  /** How many heard this sender's message before; 0 if there was none. On a cluster, how many at one of its nodes. */
  readonly receivers: number;
}

/** A claim further ahead of the store's clock than this is too early. */
export const CLAIM_LEAD_MS = 60_000;

/** The process that a holder value belongs to; undefined for a foreign holder, one without a `#`. */
export function ownerOf(holder: Holder): string | undefined {
  const hash = holder.lastIndexOf('#');
  return hash === -1 ? undefined : holder.slice(0, hash);
}
