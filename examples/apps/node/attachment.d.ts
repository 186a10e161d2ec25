// Types of attachment.js, where everything is said.

export class Refused extends Error {
  readonly status: number;
}

export interface AttachmentEvent {
  type: 'attached' | 'lead' | 'follow' | (string & {});
  epoch: number;
}

export class Attachment implements AsyncIterable<AttachmentEvent> {
  [Symbol.asyncIterator](): AsyncIterator<AttachmentEvent>;
  close(): void;
}

export function attach(place: string, name?: string, score?: number): Promise<Attachment>;
export function setScore(place: string, score: number): Promise<void>;
