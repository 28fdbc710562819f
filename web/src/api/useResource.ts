import { useCallback, useEffect, useRef, useState } from 'react';
import { asApiError, type ApiError } from './error';

export interface Resource<T> {
  data?: T; // the last that arrived; stays while it is loaded again
  error?: ApiError;
  loading: boolean;
  reload: () => void;
  set: (data: T) => void;
}

// useResource loads something and loads it again when key changes. key undefined loads nothing.
export function useResource<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ key?: string; data?: T; error?: ApiError; loading: boolean }>({ loading: key !== undefined });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    setState((s) => ({ key, data: s.key === key ? s.data : undefined, loading: true }));
    latest.current(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setState({ key, data, loading: false });
      },
      (e: unknown) => {
        if (!stop.signal.aborted) setState((s) => ({ key, data: s.data, error: asApiError(e), loading: false }));
      },
    );
    return () => stop.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const set = useCallback((data: T) => setState((s) => ({ ...s, data })), []);
  const current = state.key === key;
  return { data: current ? state.data : undefined, error: current ? state.error : undefined, loading: key !== undefined && (!current || state.loading), reload, set };
}
