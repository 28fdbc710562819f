import type { UIMessage, UIMessageChunk } from 'ai';

// What the server says of a turn, its files and its end, as parts of the message stream.
export interface TurnData {
  turn: string;
  conversation: string;
  epoch: number;
  model: string;
}

export interface ArtifactData {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  sha256: string;
  url: string;
}

export interface UsageData {
  steps: number;
  input: number;
  output: number;
  costMicros: number;
}

export type TurnStatus = 'queued' | 'running' | 'completed' | 'cut_short' | 'cancelled' | 'failed';

export interface OutcomeData {
  status: TurnStatus;
  reason?: string;
  class?: string;
  fault?: 'infrastructure' | 'model';
  component?: string;
  message?: string;
  hint?: string;
}

export interface ProgressData {
  tool?: string;
  message?: string;
  done?: number;
  total?: number;
}

export interface RetryData {
  step: number;
  attempt: number;
  class: string;
  waitMs: number;
}

type Data = {
  turn: TurnData;
  artifact: ArtifactData;
  usage: UsageData;
  outcome: OutcomeData;
  progress: ProgressData;
  retry: RetryData;
};

export type ChatMessage = UIMessage<unknown, Data>;
export type ChatPart = ChatMessage['parts'][number];
export type ChatChunk = UIMessageChunk<unknown, Data>;
export type ToolPart = Extract<ChatPart, { type: 'dynamic-tool' }>;

export interface StoredMessage extends ChatMessage {
  role: 'user' | 'assistant';
  turn?: string;
  position: number;
  created: string;
}

export interface Conversation {
  id: string;
  person: string;
  title: string;
  created: string;
  updated: string;
}

export interface Turn {
  id: string;
  outcome: OutcomeData;
  created: string;
  started?: string;
  ended?: string;
}

export interface TurnStep {
  n: number;
  kind: 'model' | 'tool';
  name: string;
  state: 'started' | 'done' | 'failed';
  started: string;
  ended?: string;
}

export interface TurnDetail {
  turn: Turn;
  steps: TurnStep[];
  timeline: { at: string; kind: string; took_ms: number; note?: string }[];
}

export const live = (status: TurnStatus | undefined) => status === 'queued' || status === 'running';
