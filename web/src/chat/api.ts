import { api, query, request } from '../api/client';
import type { ArtifactData, Conversation, StoredMessage, Turn, TurnDetail, TurnStatus } from './types';

const at = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;
const pageSize = 200;

// ActivityState is where a turn under way is: in the queue or at work, and what its sandbox does.
export interface ActivityState {
  turn?: { id: string; status: TurnStatus; ahead: number };
  sandbox: 'none' | 'starting' | 'running' | 'paused' | 'stopped';
}

// chatApi is the part of the API that the chat uses.
export const chatApi = {
  conversations: (before?: string, signal?: AbortSignal) => api.get<{ conversations: Conversation[] }>(`/api/conversations${query({ limit: 50, before })}`, signal).then((r) => r.conversations),
  conversation: (id: string, signal?: AbortSignal) => api.get<Conversation>(at(id), signal),
  rename: (id: string, title: string) => api.patch<Conversation>(at(id), { title }),

  // messages loads all that come after a position.
  async messages(id: string, after: number, signal?: AbortSignal): Promise<StoredMessage[]> {
    const all: StoredMessage[] = [];
    for (;;) {
      const { messages } = await api.get<{ messages: StoredMessage[] }>(`${at(id)}/messages${query({ after, limit: pageSize })}`, signal);
      all.push(...messages);
      if (messages.length < pageSize) return all;
      after = messages.at(-1)!.position;
    }
  },
  newestTurn: (id: string, signal?: AbortSignal) => api.get<{ turns: Turn[] }>(`${at(id)}/turns?limit=1`, signal).then((r) => r.turns[0]),
  turn: (id: string, signal?: AbortSignal) => api.get<TurnDetail>(`/api/turns/${encodeURIComponent(id)}`, signal),
  artifacts: (id: string, signal?: AbortSignal) => api.get<{ artifacts: ArtifactData[] }>(`${at(id)}/artifacts`, signal).then((r) => r.artifacts),
  activity: (id: string, signal?: AbortSignal) => api.get<ActivityState>(`/api/chat/${encodeURIComponent(id)}/activity`, signal),
  stop: (id: string) => api.post<{ status: string }>(`/api/chat/${encodeURIComponent(id)}/stop`),
  warm: (id: string) => api.post<void>(`/api/chat/${encodeURIComponent(id)}/warm`),
  models: (signal?: AbortSignal) => api.get<{ models: string[] }>('/api/models', signal).then((r) => r.models),

  // add sends a message to a turn that is under way, which reads it at its next step. Its stream is followed already.
  async add(id: string, message: { id: string; parts: { type: 'text'; text: string }[] }): Promise<void> {
    const response = await request('/api/chat', { method: 'POST', body: JSON.stringify({ id, message: { ...message, role: 'user' } }), headers: { 'Content-Type': 'application/json' } });
    await response.body?.cancel();
  },
};
