import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api/client';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Check } from '../parts/Field';
import { Page } from '../parts/Page';
import { Badge, Empty, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { when } from '../parts/format';
import { oversees, type Schedule, type ScheduleList } from './types';
import { StateBadge } from './words';

const columns: Column<Schedule>[] = [
  { key: 'name', head: 'Schedule', width: 'minmax(12rem, 2fr)', cell: (s) => <Link href={`/schedules/${s.id}`}>{s.name}</Link> },
  { key: 'who', head: 'Whose', width: 'minmax(8rem, 1fr)', cell: (s) => (s.mine ? 'yours' : s.person.name) },
  { key: 'cron', head: 'When', width: 'minmax(14rem, 1.4fr)', cell: (s) => <span title={s.zone}><code>{s.cron}</code> {s.zone}</span> },
  { key: 'next', head: 'Next run', width: '11rem', cell: (s) => (s.paused ? <Badge tone="warn">paused</Badge> : s.next[0] ? when(s.next[0]) : 'none') },
  { key: 'last', head: 'Last run', width: '14rem', cell: (s) => (s.last ? <><StateBadge run={s.last} /> {when(s.last.tick)}</> : <span className="quiet">never</span>) },
];

// List is every schedule that one may see.
export function List() {
  const { person } = useSession();
  const [all, setAll] = useState(oversees(person.role));
  const [, go] = useLocation();
  const list = useResource(`schedules-${all}`, (signal) => api.get<ScheduleList>(`/api/schedules${all ? '?of=all' : ''}`, signal));
  return (
    <Page title="Schedules" actions={<Link className="button button-primary" href="/schedules/new">New schedule</Link>}>
      {oversees(person.role) && <Check label="Schedules of everybody" checked={all} onChange={(e) => setAll(e.target.checked)} />}
      {list.error && <ErrorNote error={list.error} retry={list.reload} />}
      {list.loading && !list.data && <Loading />}
      {list.data?.schedules.length === 0 && (
        <Empty title="No schedules yet" text="A schedule asks a question by the clock, such as every weekday at 06:30 New York time, and sends the answer and its files to people." />
      )}
      {list.data && list.data.schedules.length > 0 && <Table label="Schedules" columns={columns} rows={list.data.schedules} rowKey={(s) => s.id} onOpen={(s) => go(`/schedules/${s.id}`)} />}
    </Page>
  );
}
