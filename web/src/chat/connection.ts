import { useSyncExternalStore } from 'react';

// Whether the server can be reached, as the requests under way find out. The banner shows it.
let lostSince: number | undefined;
const listeners = new Set<() => void>();

function set(value: number | undefined) {
  if (value === lostSince) return;
  lostSince = value;
  for (const l of listeners) l();
}

export const connection = {
  lost: () => set(lostSince ?? Date.now()),
  back: () => set(undefined),
};

export const useConnectionLost = () =>
  useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => lostSince !== undefined,
  );

// pause waits before the next try: longer each time, with jitter so that a thousand browsers don't come back at once, and
// cut short when the network or the reader comes back.
export function pause(tries: number, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(8000, 250 * 2 ** Math.min(tries, 6)) * (0.5 + Math.random() / 2);
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', seen);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const seen = () => document.visibilityState === 'visible' && done();
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', seen);
    signal?.addEventListener('abort', done);
  });
}
