import { Link, Route, Switch, useLocation, useSearch } from 'wouter';
import { api } from '../api/client';
import { useResource } from '../api/useResource';
import { Page } from '../parts/Page';
import { Empty, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { exactly } from '../parts/format';
import { RunView } from './RunView';
import type { Head } from './types';
import './guidelines.css';

// Everything below /runs.
export default function Runs() {
  const linked = new URLSearchParams(useSearch()).get('finding'); // as workbooks link to their findings
  return (
    <Switch>
      <Route path="/runs/:id">{({ id }) => <RunView id={id} finding={linked ?? undefined} />}</Route>
      <Route path="/runs/:id/:finding">{({ id, finding }) => <RunView id={id} finding={finding} />}</Route>
      <Route component={List} />
    </Switch>
  );
}

const columns: Column<Head>[] = [
  { key: 'at', head: 'Made', width: '12rem', cell: (r) => <Link href={`/runs/${r.id}`}>{exactly(r.created)}</Link> },
  { key: 'who', head: 'By', width: 'minmax(9rem, 1fr)', cell: (r) => r.person },
  { key: 'guideline', head: 'Guideline', width: 'minmax(10rem, 1fr)', cell: (r) => r.guideline },
  { key: 'submissions', head: 'Submissions', width: '7rem', right: true, cell: (r) => r.submissions },
  { key: 'findings', head: 'Findings', width: '6rem', right: true, cell: (r) => r.findings },
];

function List() {
  const list = useResource('runs', (signal) => api.get<{ runs: Head[] }>('/api/runs', signal));
  const [, go] = useLocation();
  return (
    <Page title="Runs">
      {list.error && <ErrorNote error={list.error} retry={list.reload} />}
      {list.loading && !list.data && <Loading />}
      {list.data?.runs.length === 0 && <Empty title="No runs yet" text="Each reconciliation is kept as a run. Ask for one in the chat, or make a schedule." />}
      {list.data && list.data.runs.length > 0 && <Table label="Runs" columns={columns} rows={list.data.runs} rowKey={(r) => r.id} onOpen={(r) => go(`/runs/${r.id}`)} />}
    </Page>
  );
}
