import { useCallback, useEffect, useRef, useState } from 'react';
import { api, query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { Button } from '../parts/Button';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { Verdict, type Chained } from '../parts/Verdict';
import { exactly, plural } from '../parts/format';
import type { LogEntry } from './types';

// AdminLog is who changed people, roles, keys and sessions, and who signed in or was refused. The newest are first; older ones come on demand,
// and of many only those in sight are drawn.
export function AdminLog() {
  const [entries, setEntries] = useState<LogEntry[]>([]);
  const [next, setNext] = useState<string | undefined>('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const begun = useRef(false);
  const more = useCallback(async (before: string) => {
    setBusy(true);
    setError(undefined);
    try {
      const page = await api.get<{ entries: LogEntry[]; next?: string }>(`/api/admin-log${query({ before, limit: 500 })}`);
      setEntries((all) => [...all, ...page.entries]);
      setNext(page.next);
    } catch (e) {
      setError(asApiError(e));
    }
    setBusy(false);
  }, []);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void more('');
  }, [more]);
  return (
    <>
      <Verify />
      {error && <ErrorNote error={error} retry={() => void more(next ?? '')} />}
      {entries.length > 0 ? <Table label="Admin log" columns={columns} rows={entries} rowKey={(e) => e.id} /> : busy && <Loading />}
      <div className="form-row">
        <span className="quiet">{plural(entries.length, 'line')}</span>
        {next && (
          <Button busy={busy} onClick={() => void more(next)}>
            Older lines
          </Button>
        )}
      </div>
    </>
  );
}

// Verify proves that no line was changed, dropped or put elsewhere.
function Verify() {
  const [state, setState] = useState<{ busy?: boolean; verdict?: Chained; error?: ApiError }>({});
  const verify = async () => {
    setState({ busy: true });
    try {
      setState({ verdict: await api.post<Chained>('/api/admin-log/verify', { anchor: '' }) });
    } catch (e) {
      setState({ error: asApiError(e) });
    }
  };
  return (
    <>
      <div className="form-row">
        <Button busy={state.busy} onClick={() => void verify()}>
          Verify the log
        </Button>
        <small>Each line carries the hash of the one before it: a line that was changed, dropped or put elsewhere shows.</small>
      </div>
      {state.error && <ErrorNote error={state.error} />}
      {state.verdict && <Verdict of={state.verdict} />}
    </>
  );
}

const columns: Column<LogEntry>[] = [
  { key: 'at', head: 'When', width: '10.5rem', cell: (e) => exactly(e.at) },
  { key: 'who', head: 'Who', width: 'minmax(10rem, 1fr)', cell: (e) => e.actorName },
  { key: 'what', head: 'What', width: '11rem', cell: (e) => <Badge tone={tones[e.action]}>{words[e.action] ?? e.action}</Badge> },
  { key: 'detail', head: 'Detail', width: 'minmax(14rem, 2fr)', cell: (e) => <span title={e.detail}>{e.detail}</span> },
  { key: 'address', head: 'From', width: '8rem', cell: (e) => e.address },
];

const words: Record<string, string> = {
  'organisation.put': 'organisation named',
  'person.added': 'person added',
  'person.renamed': 'name changed',
  'person.disabled': 'person disabled',
  'person.enabled': 'person enabled',
  'role.changed': 'role changed',
  'key.issued': 'key issued',
  'key.revoked': 'key revoked',
  'link.issued': 'link issued',
  'password.set': 'password set',
  'subject.bound': 'sign-in linked',
  'sign_in.done': 'signed in',
  'sign_in.refused': 'sign-in refused',
  'sign_in.limited': 'sign-in held back',
  sign_out: 'signed out',
  'session.ended': 'session ended',
  'policy.changed': 'policy changed',
};

const tones: Record<string, 'good' | 'warn' | 'bad' | undefined> = { 'sign_in.done': 'good', 'sign_in.refused': 'warn', 'sign_in.limited': 'bad', 'person.disabled': 'bad', 'role.changed': 'warn' };
