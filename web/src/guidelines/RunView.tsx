import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, query } from '../api/client';
import { useResource } from '../api/useResource';
import { Field } from '../parts/Field';
import { Page } from '../parts/Page';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { exactly, plural } from '../parts/format';
import { FindingView } from './FindingView';
import { dispositions, toneOf, type Finding, type Head } from './types';

const columns: Column<Finding>[] = [
  { key: 'id', head: 'Finding', width: '4.5rem', cell: (f) => f.id },
  { key: 'severity', head: 'Severity', width: '5.5rem', cell: (f) => <Badge tone={toneOf(f.severity)}>{f.severity}</Badge> },
  { key: 'rule', head: 'Rule', width: '4.5rem', cell: (f) => f.rule_id },
  { key: 'submission', head: 'Submission', width: '8.5rem', cell: (f) => f.submission_id },
  { key: 'entity', head: 'Where', width: '9.5rem', cell: (f) => f.entity },
  { key: 'message', head: 'What', width: 'minmax(16rem, 1fr)', cell: (f) => <span title={f.message}>{f.message}</span> },
  { key: 'disposition', head: 'Disposition', width: '7rem', cell: (f) => dispositions[f.disposition ?? ''] ?? f.disposition },
];

// RunView is a run's findings with filters, and one of them opened.
export function RunView({ id, finding }: { id: string; finding?: string }) {
  const [filter, setFilter] = useState({ severity: '', disposition: '', rule: '', submission: '', q: '' });
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const run = useResource(id, (signal) => api.get<{ run: Head }>(path, signal));
  const asked = query(filter);
  const list = useResource(`${id}${asked}`, (signal) => api.get<{ findings: Finding[]; total: number }>(`${path}/findings${asked}`, signal));
  const [, go] = useLocation();
  const set = (some: Partial<typeof filter>) => setFilter({ ...filter, ...some });
  if (run.error) return <Page title="Run"><ErrorNote error={run.error} retry={run.reload} /></Page>;
  if (!run.data) return <Loading />;
  const h = run.data.run;
  return (
    <Page title={`Run of ${exactly(h.created)}`} actions={h.conversation && <Link className="button" href={`/chat/${h.conversation}`}>Conversation</Link>}>
      <p>{plural(h.submissions, 'submission')} against {h.guideline}, {plural(h.findings, 'finding')}, by {h.person}. Dispositions and comments are in the next report that is rendered from this run.</p>
      <div className="form-row" role="search" aria-label="Filter findings">
        <Field label="Severity"><select value={filter.severity} onChange={(e) => set({ severity: e.target.value })}><option value="">all</option>{['critical', 'major', 'minor', 'note'].map((s) => <option key={s}>{s}</option>)}</select></Field>
        <Field label="Disposition"><select value={filter.disposition} onChange={(e) => set({ disposition: e.target.value })}><option value="">all</option>{Object.entries(dispositions).map(([k, v]) => <option key={k} value={k || 'open'}>{v}</option>)}</select></Field>
        <Field label="Rule"><input value={filter.rule} onChange={(e) => set({ rule: e.target.value })} /></Field>
        <Field label="Submission"><input value={filter.submission} onChange={(e) => set({ submission: e.target.value })} /></Field>
        <Field label="Text"><input type="search" value={filter.q} onChange={(e) => set({ q: e.target.value })} /></Field>
        <span className="quiet" aria-live="polite">{list.data && plural(list.data.total, 'finding')}</span>
      </div>
      {list.error && <ErrorNote error={list.error} retry={list.reload} />}
      {list.data && <Table label="Findings" columns={columns} rows={list.data.findings} rowKey={(f) => f.id} height="60vh" onOpen={(f) => go(`/runs/${id}/${f.id}`)} empty="No finding matches." />}
      {finding && <FindingView key={finding} path={path} id={finding} onClose={() => go(`/runs/${id}`)} onSaved={list.reload} />}
    </Page>
  );
}
