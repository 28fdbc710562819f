import { useChat } from '@ai-sdk/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, asApiError } from '../api/error';
import { chatApi } from './api';
import { connection } from './connection';
import { forgetProgress, noteProgress } from './progress';
import { ResumingTransport } from './transport';
import { live, type ChatMessage, type OutcomeData, type RetryData, type StoredMessage, type Turn } from './types';

// How often an idle page looks whether something happened elsewhere: another tab, another machine, a schedule.
const lookEvery = 4000;

export interface Thread {
  messages: ChatMessage[];
  loading: boolean;
  error?: ApiError; // of loading
  refused?: ApiError; // of the last message
  unsent: string; // what it said
  busy: boolean; // a turn is under way, here or elsewhere
  waiting: boolean; // its first event hasn't come
  stopping: boolean;
  retry?: RetryData; // a model attempt failed and another follows
  send: (text: string, attached?: string[]) => Promise<void>;
  stop: () => Promise<void>;
  reload: () => void;
}

// useThread is one conversation as it is: what the server has stored, and the turn under way on top. When a turn ends, its
// stored copy takes the place of the streamed one, so that every page and machine shows the same.
export function useThread(id: string, fresh: boolean, model: string): Thread {
  const [stored, setStored] = useState<StoredMessage[]>([]);
  const [loaded, setLoaded] = useState(fresh);
  const [error, setError] = useState<ApiError>();
  const [refused, setRefused] = useState<ApiError>();
  const [unsent, setUnsent] = useState('');
  const [stopping, setStopping] = useState(false);
  const [retry, setRetry] = useState<RetryData>();
  const [round, setRound] = useState(0);
  const chosen = useRef(model);
  chosen.current = model;
  const transport = useMemo(() => new ResumingTransport(() => chosen.current), []);
  const chat = useChat<ChatMessage>({
    id,
    transport,
    generateId: () => crypto.randomUUID(),
    experimental_throttle: 60,
    onData(part) {
      if (part.type === 'data-progress') noteProgress(part.id ?? '', part.data);
      if (part.type === 'data-retry') setRetry(part.data);
    },
    onError(e) {
      setRefused(asApiError(e));
      // A message that was refused is none: its words go back to where they were written.
      const last = latest.current.at(-1);
      if (last?.role !== 'user') return;
      setUnsent(textOf(last));
      setMessages((all) => all.filter((m) => m.id !== last.id));
    },
  });
  const { setMessages, resumeStream, sendMessage, status } = chat;
  const latest = useRef(chat.messages);
  latest.current = chat.messages;
  const busy = status === 'submitted' || status === 'streaming';

  // What the callbacks below must see as it is now.
  const now = useRef({ position: 0, turn: '', ended: true, busy, alive: true });
  now.current.busy = busy;

  // sync takes what the server has beyond what is shown, and follows a turn that runs.
  const sync = useCallback(async () => {
    const seen = now.current;
    const turn = await chatApi.newestTurn(id);
    const more = await chatApi.messages(id, seen.position);
    if (!seen.alive || seen !== now.current) return;
    note(seen, turn, more);
    if (more.length) setStored((s) => [...s, ...more]);
    if (!seen.busy && live(turn?.outcome.status)) void resumeStream();
  }, [id, resumeStream]);

  useEffect(() => {
    if (fresh) return;
    const seen = { position: 0, turn: '', ended: true, busy: false, alive: true };
    now.current = seen;
    setError(undefined);
    Promise.all([chatApi.newestTurn(id), chatApi.messages(id, 0)]).then(
      ([turn, all]) => {
        if (!seen.alive) return;
        note(seen, turn, all);
        setStored(all);
        setLoaded(true);
        if (live(turn?.outcome.status)) void resumeStream();
      },
      (e: unknown) => seen.alive && setError(asApiError(e)),
    );
    return () => {
      seen.alive = false;
    };
  }, [id, round]); // fresh and the chat belong to id

  // The end of a turn.
  const was = useRef(false);
  useEffect(() => {
    if (was.current && !busy) {
      setStopping(false);
      setRetry(undefined);
      tell(id);
      sync().catch(() => {}); // the next look finds it
    }
    was.current = busy;
  }, [busy, id, sync]);

  useEffect(() => forgetProgress, [id, busy]);

  // What is stored needn't be kept twice. Both are shown once meanwhile, so that nothing flickers.
  useEffect(() => {
    if (busy || chat.messages.length === 0) return;
    const known = new Set(stored.map((m) => m.id));
    if (chat.messages.every((m) => known.has(m.id))) setMessages([]);
  }, [busy, stored, chat.messages, setMessages]);

  // What happens elsewhere.
  useEffect(() => {
    if (!loaded || busy) return;
    let timer: ReturnType<typeof setTimeout>;
    let running = false;
    const look = async () => {
      clearTimeout(timer);
      if (running) return;
      running = true;
      try {
        if (document.visibilityState === 'visible' && (now.current.turn || !fresh)) {
          const turn = await chatApi.newestTurn(id);
          connection.back();
          if (turn && (turn.id !== now.current.turn || live(turn.outcome.status) || !now.current.ended)) await sync();
        }
      } catch (e) {
        if (asApiError(e).status === 0) connection.lost();
      }
      running = false;
      timer = setTimeout(() => void look(), lookEvery);
    };
    timer = setTimeout(() => void look(), lookEvery);
    const wake = () => void look();
    const channel = listen(id, wake);
    document.addEventListener('visibilitychange', wake);
    addEventListener('online', wake);
    return () => {
      clearTimeout(timer);
      channel.close();
      document.removeEventListener('visibilitychange', wake);
      removeEventListener('online', wake);
    };
  }, [id, fresh, loaded, busy, sync]);

  const send = async (text: string, attached: string[] = []) => {
    setRefused(undefined);
    setUnsent('');
    const parts = [{ type: 'text' as const, text }];
    if (attached.length) parts.push({ type: 'text', text: attachedText(attached) });
    if (!busy) {
      now.current.turn ||= 'unknown';
      void sendMessage({ parts }).catch((e: unknown) => setRefused(asApiError(e)));
      setTimeout(() => tell(id), 300);
      return;
    }
    await chatApi.add(id, { id: crypto.randomUUID(), parts });
    await sync();
  };

  const messages = useMemo(() => {
    const known = new Set(stored.map((m) => m.id));
    return [...stored, ...chat.messages.filter((m) => !known.has(m.id))];
  }, [stored, chat.messages]);

  return {
    messages,
    loading: !loaded && !error,
    error,
    refused,
    unsent,
    busy,
    waiting: status === 'submitted',
    stopping,
    retry,
    send,
    async stop() {
      setStopping(true);
      try {
        await chatApi.stop(id);
        tell(id);
      } catch (e) {
        setStopping(false);
        setRefused(asApiError(e));
      }
    },
    reload: () => setRound((n) => n + 1),
  };
}

function note(seen: { position: number; turn: string; ended: boolean }, turn: Turn | undefined, all: StoredMessage[]) {
  seen.position = all.at(-1)?.position ?? seen.position;
  seen.turn = turn?.id ?? '';
  seen.ended = !live(turn?.outcome.status);
}

// attachedText names uploaded files to the model, the way the server does for files inside a message.
export const attachedPrefix = 'Attached, in /workspace/documents:';
export const attachedText = (names: string[]) => [attachedPrefix, ...names].join('\n');

// Tabs of one browser tell each other at once.
function channel() {
  return new BroadcastChannel('bordereau-chat');
}

function tell(id: string) {
  const c = channel();
  c.postMessage(id);
  c.close();
}

export function listen(id: string | undefined, heard: () => void): BroadcastChannel {
  const c = channel();
  c.onmessage = (e) => (id === undefined || e.data === id) && heard();
  return c;
}

// textOf is what a person wrote in a message.
function textOf(message: ChatMessage): string {
  const part = message.parts.find((p) => p.type === 'text');
  return part?.type === 'text' ? part.text : '';
}

// outcomeOf is how the turn of an answer ended, once it has.
export function outcomeOf(message: ChatMessage): OutcomeData | undefined {
  return message.parts.find((p) => p.type === 'data-outcome')?.data as OutcomeData | undefined;
}
