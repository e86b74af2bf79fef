/** How a triggered run has ended. Each is null if that is not known when the wait is over: it may still run. */
export interface RunEnd {
  /**
   * `cancelled`: it threw after its signal had fired, or was not called after all. `interrupted`: its replica was gone
   * when the next leader took over, which is its `endedAt`.
   */
  readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'interrupted' | null;
  /** The message of the error of a failed run with its causes, 200 characters at most. */
  readonly error: string | null;
  /** By the clock of the store, ISO 8601. */
  readonly endedAt: string | null;
}

/** The result of a request to run a job now. `End`: with `wait` it is a `RunEnd`, otherwise it adds nothing. */
export type TriggerResult<End = unknown> =
  | ({
      /** The run begins, unless the leader loses its lease, or its clock is set, at this moment. */
      readonly started: true;
      /** The replica that runs it: `nodeId` with its random part. */
      readonly by: string;
      /** That of the term. */
      readonly fencingToken: number;
      /** When it began, ISO 8601. */
      readonly startedAt: string;
    } & End)
  | {
      /** No run was started. */
      readonly started: false;
      /**
       * - `running`: a run is in flight.
       * - `paused`: the job is paused on all replicas.
       * - `lease-unconfirmed`: the leader starts no run at the moment, because it stops or its lease is in doubt.
       * - `unreachable`: the store did not answer, so no replica was asked.
       * - `stopping`: this process has stopped and closed its connections, so no replica was asked.
       * - `not-started`: no replica leads, and the jobs of this application begin after `onApplicationBootstrap` of its
       *   other providers;
       * - `no-answer`: no replica leads, or none answered within 2 s. An answer can get lost: then the run starts all
       *   the same, at once or when the leader sees the record again. No leader accepts it after the 2 s.
       */
      readonly reason:
        'running' | 'paused' | 'lease-unconfirmed' | 'unreachable' | 'stopping' | 'not-started' | 'no-answer';
      /** The leader as this replica knows it. Null: none is known. */
      readonly leader: string | null;
      /** The replica that answered. Null: none did. */
      readonly by: string | null;
    };

/** The result of a request to give a job to another replica. `by` is the replica that releases it. Null: none. */
export type StepDownResult =
  | {
      /** The job is being released. */
      readonly steppedDown: true;
      /** The replica that releases it. */
      readonly by: string;
    }
  | {
      /** No replica releases it. */
      readonly steppedDown: false;
      /**
       * - `unreachable`: the store did not answer, so no replica was asked.
       * - `stopping`: this process has stopped and closed its connections, so no replica was asked.
       * - `no-answer`: no replica leads, or none answered within 2 s. An answer can get lost: then the job was
       *   released all the same.
       */
      readonly reason: 'unreachable' | 'stopping' | 'no-answer';
      /** No replica. */
      readonly by: null;
    };
