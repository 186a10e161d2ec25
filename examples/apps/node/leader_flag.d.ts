// Types of leader_flag.js, where everything else is said.

export declare const Role: Readonly<{ UNKNOWN: 0; FOLLOWER: 1; LEADER: 2 }>;

export declare class FlagError extends Error {
  readonly code: 'NOT_READY' | 'NOT_A_FLAG' | 'UNKNOWN_VERSION' | 'NOT_TRUSTED' | 'NO_CLOCK';
}

export interface FlagOptions {
  owner?: number | null;
}

export interface Snapshot {
  readonly seq: number;
  readonly role: number;
  readonly epoch: bigint;
  readonly fencingToken: bigint;
  readonly validUntilNs: bigint;
  readonly leaderId: string;
  readonly guard: number;
  readonly isSidecarAlive: boolean;
  readonly isDraining: boolean;
}

export declare class LeaderFlag {
  constructor(flagPath: string, options?: FlagOptions);
  close(): void;
  token(): bigint | null;
  read(): Snapshot;
  wait(seen: Snapshot, timeoutMs: number): Promise<Snapshot>;
  /**
   * Call this before work that takes `needMs`.  A token: this replica leads, may begin new work, and
   * its leadership, as the sidecar last wrote it, is valid for at least that long; the token is for
   * the resource and for still().  Otherwise null.  A leader that is about to hand over may not
   * begin anything; it has `[application] drain_timeout` to finish what it has begun.
   *
   * The leadership is never valid for longer than 4/5 of the lease, and for less between two
   * renewals: a `needMs` that is not well below is never granted.  For longer work pass a small one,
   * set drain_timeout above its length, and let still() decide whether the result counts.
   *
   * After a token, under every guard but "none", no other replica leads before that time is up, even
   * if the sidecar hangs, gets no processor time, or is cut off.  There are two exceptions: the
   * leader gives up leadership without a drain, or after one (a step-down, a transfer, a planned
   * take-over, SIGTERM), or its sidecar is known to be dead.  Then another replica may lead a
   * millisecond later, while this one is still working. */
  begin(needMs: number): bigint | null;
  /**
   * Call this after the work, before its result counts.  True: this replica leads, in the same epoch
   * as at begin(); under every guard but "none", no other replica has led since then. */
  still(token: bigint): boolean;
}

export declare function openFlag(flagPath: string, options?: FlagOptions): Promise<LeaderFlag>;
