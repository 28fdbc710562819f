import { useCallback, useEffect, useRef, useState } from 'react';
import { api, query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import type { Filters } from './filters';
import type { Listed, StatementList } from './types';

interface Pages {
  key: string;
  rows: Listed[];
  people: Record<string, string>;
  next?: string;
  looked?: string;
  loading: boolean;
  error?: ApiError;
}

const pageSize = 500;
const empty = (key: string): Pages => ({ key, rows: [], people: {}, loading: true });

// usePages loads a list of statements page by page. A page that finds nothing, since the search looks at so many statements at a time,
// is followed by the next at once.
export function usePages(filters: Filters) {
  const key = query(filters);
  const [pages, setPages] = useState<Pages>(empty(key));
  const [round, setRound] = useState(0);
  const stop = useRef<AbortController>(null);

  const load = useCallback(
    async (before: Pages) => {
      const signal = stop.current!.signal;
      let now = before;
      try {
        const wanted = now.rows.length + 1;
        do {
          const page: StatementList = await api.get(`/api/console/statements${query({ ...filters, after: now.next, limit: pageSize })}`, signal);
          now = { ...now, rows: now.rows.concat(page.statements), people: { ...now.people, ...page.people }, next: page.next, looked: page.looked, loading: true };
          setPages(now);
        } while (now.next && now.rows.length < wanted);
        setPages({ ...now, loading: false });
      } catch (e) {
        if (!signal.aborted) setPages({ ...now, loading: false, error: asApiError(e) });
      }
    },
    [key],
  );

  useEffect(() => {
    stop.current = new AbortController();
    const first = empty(key);
    setPages(first);
    void load(first);
    return () => stop.current?.abort();
  }, [key, round]);

  const more = useCallback(() => {
    if (pages.loading || !pages.next || pages.error) return;
    const going = { ...pages, loading: true };
    setPages(going);
    void load(going);
  }, [pages, load]);

  // refresh puts what was asked since on top; what is there stays where it is.
  const refresh = useCallback(async () => {
    const signal = stop.current?.signal;
    try {
      const page = await api.get<StatementList>(`/api/console/statements${query({ ...filters, limit: 100 })}`, signal);
      setPages((now) => {
        const known = new Set(now.rows.map((r) => r.audit_id));
        return now.key === key ? { ...now, rows: [...page.statements.filter((s) => !known.has(s.audit_id)), ...now.rows], people: { ...now.people, ...page.people } } : now;
      });
    } catch {
      // The list is as it was; its own loading says what is wrong.
    }
  }, [key]);

  return { ...pages, more, refresh, reload: useCallback(() => setRound((n) => n + 1), []) };
}
