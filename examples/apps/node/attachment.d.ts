// Types of attachment.js, where everything is said.

export class Refused extends Error {
  readonly status: number;
}

export class NoToken extends Error {}

// One of them, or none.
export interface TokenOptions {
  token?: string;
  tokenFile?: string;
}

export interface AttachmentEvent {
  type: 'attached' | 'lead' | 'follow' | 'drain' | (string & {});
  epoch: number;
  leftMs?: number;
  reason?: 'step_down' | 'transfer' | 'leave' | 'take_over' | (string & {});
  successor?: string | null;
  attachment?: number;
  drain?: number;
}

export class Attachment implements AsyncIterable<AttachmentEvent> {
  [Symbol.asyncIterator](): AsyncIterator<AttachmentEvent>;
  close(): void;
}

export class Scorer {
  constructor(place: string, options?: TokenOptions);
  set(score: number): Promise<void>;
  close(): void;
}

export function attach(place: string, name?: string, score?: number, options?: TokenOptions): Promise<Attachment>;
export function setScore(place: string, score: number, options?: TokenOptions): Promise<void>;
export function drained(place: string, drain: AttachmentEvent, options?: TokenOptions): Promise<void>;
