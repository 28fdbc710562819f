import { useRef, useState } from 'react';
import { asApiError, type ApiError } from '../api/error';
import { unreadable } from './fileKind';
import { upload } from './uploads';

export interface Attachment {
  key: string;
  file: File;
  sent: number; // bytes
  state: 'sending' | 'kept' | 'failed';
  error?: ApiError;
  warning?: string;
}

// useAttachments uploads files as soon as they are chosen, one after the other, and keeps what becomes of each.
export function useAttachments(conversation: string) {
  const [all, setAll] = useState<Attachment[]>([]);
  const stops = useRef(new Map<string, AbortController>());
  const queue = useRef<Promise<void>>(Promise.resolve());

  const change = (key: string, to: Partial<Attachment>) => setAll((list) => list.map((a) => (a.key === key ? { ...a, ...to } : a)));

  const start = (key: string, file: File) => {
    const stop = new AbortController();
    stops.current.set(key, stop);
    queue.current = queue.current.then(async () => {
      if (stop.signal.aborted) return;
      try {
        await upload(conversation, file, (sent) => change(key, { sent }), stop.signal);
        change(key, { state: 'kept', sent: file.size });
      } catch (e) {
        if (!stop.signal.aborted) change(key, { state: 'failed', error: asApiError(e) });
      }
    });
  };

  return {
    all,
    add(files: Iterable<File>) {
      for (const file of files) {
        const key = crypto.randomUUID();
        setAll((list) => [...list, { key, file, sent: 0, state: 'sending', warning: unreadable(file) }]);
        start(key, file);
      }
    },
    retry(a: Attachment) {
      change(a.key, { state: 'sending', sent: 0, error: undefined });
      start(a.key, a.file);
    },
    // remove takes a file off the message; one that was sent stays in the conversation.
    remove(key: string) {
      stops.current.get(key)?.abort();
      setAll((list) => list.filter((a) => a.key !== key));
    },
    clear: () => setAll([]),
  };
}
