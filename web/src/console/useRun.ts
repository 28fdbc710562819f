import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../api/client';
import { ApiError, asApiError } from '../api/error';
import { runQuery, type Result } from './stream';
import type { Plan } from './types';

export interface Run {
  busy?: 'run' | 'explain' | 'export';
  result?: Result;
  plan?: Plan;
  error?: ApiError;
  cancelled?: boolean;
  exported?: { rows: number; bytes: number; format: string; truncated: boolean };
}

// previewRows is how many rows are asked for first, and shownRows how many a page holds at most.
export const previewRows = 1000;
export const shownRows = 200_000;

// useRun runs one thing at a time: a statement, its plan, or its export. Cancelling stops it on the server too.
export function useRun() {
  const [run, setRun] = useState<Run>({});
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const start = useCallback(async (busy: NonNullable<Run['busy']>, work: (signal: AbortSignal) => Promise<Run>) => {
    stop.current?.abort();
    const own = new AbortController();
    stop.current = own;
    setRun({ busy });
    try {
      const done = await work(own.signal);
      if (stop.current === own) setRun(done);
    } catch (e) {
      if (stop.current === own) setRun(own.signal.aborted ? { cancelled: true } : { error: asApiError(e) });
    }
  }, []);

  return {
    run,
    cancel: useCallback(() => stop.current?.abort(), []),
    query: (sql: string, maxRows: number) =>
      start('run', async (signal) => ({ result: await runQuery({ sql, max_rows: maxRows }, signal, (result) => !signal.aborted && setRun({ busy: 'run', result })) })),
    explain: (sql: string) => start('explain', async (signal) => ({ plan: await api.post<Plan>('/api/console/explain', { sql }, signal) })),
    export: (sql: string, format: string) =>
      start('export', async (signal) => {
        const made = await api.post<{ url: string; rows: number; bytes: number; format: string; truncated: boolean }>('/api/console/exports', { sql, format }, signal);
        const a = document.createElement('a');
        a.href = made.url;
        a.download = '';
        a.click();
        return { exported: made };
      }),
  };
}
