// Types of leader_flag.js, where everything is said.

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
  begin(needMs: number): bigint | null;
  still(token: bigint): boolean;
}

export declare function openFlag(flagPath: string, options?: FlagOptions): Promise<LeaderFlag>;
