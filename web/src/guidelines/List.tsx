import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Page } from '../parts/Page';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { exactly } from '../parts/format';
import type { Draft, Listed } from './types';

const columns: Column<Listed>[] = [
  { key: 'key', head: 'Guideline', width: 'minmax(10rem, 1fr)', cell: (g) => <Link href={`/guidelines/${encodeURIComponent(g.key)}`}>{g.key}</Link> },
  { key: 'name', head: 'Name', width: 'minmax(12rem, 2fr)', cell: (g) => g.name },
  { key: 'carrier', head: 'Carrier', width: '6rem', cell: (g) => g.carrier },
  { key: 'effective', head: 'Effective', width: '6.5rem', cell: (g) => g.effective },
  { key: 'rules', head: 'Rules', width: '3.5rem', right: true, cell: (g) => g.rules },
  { key: 'state', head: 'State', width: '7.5rem', cell: (g) => (g.in_force ? <Badge tone="good">in force</Badge> : <Badge>not in force</Badge>) },
  { key: 'from', head: 'From', width: 'minmax(14rem, 1fr)', cell: (g) => (g.own ? `${g.person ?? ''}, ${exactly(g.published!)}` : 'comes with the program') },
];

const starter = `schema: bordereau.guideline/1
id: CARRIER
carrier: CARRIER
name: What it is called
version: "1"
effective: ${new Date().toISOString().slice(0, 10)}
extends: starter@2026.1
parameters: {}
`;

// List is every guideline of the organisation, and its drafts.
export function List() {
  const { person } = useSession();
  const writes = person.role === 'analyst' || person.role === 'admin';
  const list = useResource('guidelines', (signal) => api.get<{ guidelines: Listed[]; drafts: Draft[] }>('/api/guidelines', signal));
  const [error, setError] = useState<ApiError>();
  const [, go] = useLocation();
  const draft = async () => {
    try {
      go(`/guidelines/drafts/${(await api.post<Draft>('/api/guidelines/drafts', { text: starter })).id}`);
    } catch (e) {
      setError(asApiError(e));
    }
  };
  return (
    <Page title="Guidelines" actions={writes && <Button kind="primary" icon="plus" onClick={() => void draft()}>New draft</Button>}>
      {(error ?? list.error) && <ErrorNote error={(error ?? list.error)!} retry={list.reload} />}
      {list.loading && !list.data && <Loading />}
      {list.data && list.data.drafts.length > 0 && (
        <section>
          <h2>Drafts</h2>
          <ul className="guideline-drafts" aria-label="Drafts">
            {list.data.drafts.map((d) => (
              <li key={d.id}>
                <Link href={`/guidelines/drafts/${d.id}`}>{d.title || 'untitled'}</Link> <small>revision {d.revision}, {d.person}, {exactly(d.at)}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
      {list.data && <Table label="Guidelines" columns={columns} rows={list.data.guidelines} rowKey={(g) => g.key} onOpen={(g) => go(`/guidelines/${encodeURIComponent(g.key)}`)} />}
    </Page>
  );
}
