import { useCallback, useEffect, useRef, useState } from 'react';
import { api, query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';

export interface Finding {
  id: string;
  submission_id: string;
  rule_id: string;
  severity: string;
  action?: string;
  outcome: string;
  entity: string;
  field?: string;
  message: string;
}

export interface Reconciled {
  run_id: string;
  submissions: number;
  finding_count: number;
  severities?: Record<string, number>;
  rules?: Record<string, number>;
  findings: Finding[]; // the gravest
}

export interface Filters {
  severity: string;
  rule: string;
  outcome: string;
  q: string;
}

interface Rows {
  key: string;
  rows: Finding[];
  total?: number; // unknown until the first page is there
  loading?: boolean;
  error?: ApiError;
}

const pageSize = 200;
const patience = 200; // milliseconds that somebody types

// useFindings is a run's findings with filters, the gravest first: those that the answer has at once, and the others a page at a time
// from the run, when they are wanted.
export function useFindings(run: Reconciled, filters: Filters) {
  const key = query({ ...filters });
  const whole = run.findings.length >= run.finding_count;
  const begin = (): Rows => {
    if (whole) {
      const rows = run.findings.filter((f) => fits(f, filters));
      return { key, rows, total: rows.length };
    }
    return key === '' ? { key, rows: run.findings, total: run.finding_count } : { key, rows: [], loading: true };
  };
  const [state, setState] = useState<Rows>(begin);
  const stop = useRef<AbortController>(null);

  const load = useCallback(
    async (before: Rows) => {
      const signal = stop.current!.signal;
      setState({ ...before, loading: true, error: undefined });
      try {
        const asked = query({ ...filters, order: 'severity', offset: before.rows.length, limit: pageSize });
        const page = await api.get<{ findings: Finding[]; total: number }>(`/api/runs/${encodeURIComponent(run.run_id)}/findings${asked}`, signal);
        setState({ key, rows: before.rows.concat(page.findings), total: page.total });
      } catch (e) {
        if (!signal.aborted) setState({ ...before, loading: false, error: asApiError(e) });
      }
    },
    [key, run.run_id],
  );

  useEffect(() => {
    stop.current = new AbortController();
    const first = begin();
    setState(first);
    const timer = first.loading ? setTimeout(() => void load(first), patience) : undefined;
    return () => {
      clearTimeout(timer);
      stop.current?.abort();
    };
  }, [key, run.run_id]);

  const more = () => {
    if (!state.loading && !state.error && state.rows.length < (state.total ?? 0)) void load(state);
  };
  return { ...state, more, retry: () => void load(state) };
}

function fits(f: Finding, by: Filters): boolean {
  const text = `${f.message} ${f.entity} ${f.field ?? ''} ${f.submission_id} ${f.rule_id}`.toLowerCase();
  return (!by.severity || f.severity === by.severity) && (!by.rule || f.rule_id === by.rule) && (!by.outcome || f.outcome === by.outcome) && text.includes(by.q.trim().toLowerCase());
}
