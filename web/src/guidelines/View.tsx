import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Page } from '../parts/Page';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { Changes } from './Changes';
import { toneOf, type Change, type Draft, type Listed, type Shown } from './types';

const columns: Column<Shown['rule_list'][number]>[] = [
  { key: 'id', head: 'Rule', width: '7rem', cell: (r) => r.id },
  { key: 'severity', head: 'Severity', width: '6rem', cell: (r) => <Badge tone={toneOf(r.severity)}>{r.severity}</Badge> },
  { key: 'action', head: 'Action', width: '6rem', cell: (r) => r.action },
  { key: 'scope', head: 'Scope', width: '7rem', cell: (r) => r.scope },
  { key: 'text', head: 'What it says', width: 'minmax(20rem, 1fr)', cell: (r) => <span title={r.text}>{r.text}</span> },
];

// View is one guideline, rule by rule, and what differs from another one.
export function View({ name }: { name: string }) {
  const { person } = useSession();
  const one = useResource(name, (signal) => api.get<Shown>(`/api/guidelines/versions/${encodeURIComponent(name)}`, signal));
  const list = useResource('guidelines', (signal) => api.get<{ guidelines: Listed[] }>('/api/guidelines', signal));
  const [other, setOther] = useState('');
  const diff = useResource(other ? `${other} ${name}` : undefined, (signal) => api.get<{ changes: Change[] }>(`/api/guidelines/diff${query({ from: other, to: name })}`, signal));
  const [error, setError] = useState<ApiError>();
  const [, go] = useLocation();
  if (one.error) return <Page title={name}><ErrorNote error={one.error} retry={one.reload} /></Page>;
  const g = one.data;
  if (!g) return <Loading />;
  const newer = async () => {
    const text = g.text ?? `schema: bordereau.guideline/1\nid: ${g.id}\ncarrier: ${g.carrier}\nname: ${g.name}\nversion: "${g.version}.1"\neffective: ${new Date().toISOString().slice(0, 10)}\nextends: ${g.key}\nparameters: {}\n`;
    try {
      go(`/guidelines/drafts/${(await api.post<Draft>('/api/guidelines/drafts', { text })).id}`);
    } catch (e) {
      setError(asApiError(e));
    }
  };
  return (
    <Page title={g.key} actions={(person.role === 'analyst' || person.role === 'admin') && <Button kind="primary" icon="pencil" onClick={() => void newer()}>Draft a newer version</Button>}>
      {error && <ErrorNote error={error} />}
      <p>{g.name}, carrier {g.carrier}, effective {g.effective}{g.own ? '' : '; it comes with the program'}</p>
      <Table label="Rules" columns={columns} rows={g.rule_list} rowKey={(r) => r.id} />
      <section className="card guideline-card">
        <h2>Parameters</h2>
        <dl className="guideline-facts">{Object.entries(g.parameters).map(([k, v]) => <div key={k}><dt><code>{k}</code></dt><dd>{v}</dd></div>)}</dl>
      </section>
      <section className="card guideline-card">
        <Field label="What differs from">
          <select value={other} onChange={(e) => setOther(e.target.value)}>
            <option value="">choose a guideline</option>
            {list.data?.guidelines.filter((x) => x.key !== name).map((x) => <option key={x.key}>{x.key}</option>)}
          </select>
        </Field>
        {diff.error && <ErrorNote error={diff.error} />}
        {diff.data && <Changes changes={diff.data.changes} />}
      </section>
      <small className="mono">sha256 {g.sha256}</small>
    </Page>
  );
}
