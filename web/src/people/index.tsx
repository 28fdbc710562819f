import { useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { api } from '../api/client';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Page } from '../parts/Page';
import { Badge, Empty, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { when } from '../parts/format';
import { AdminLog } from './AdminLog';
import { Invite } from './Invite';
import { AllKeys } from './Keys';
import { PersonDialog } from './PersonDialog';
import { Tabs } from './Tabs';
import type { Person } from './types';
import './people.css';

// Everything below /people, for administrators and, to look at, auditors.
export default function People() {
  const { person } = useSession();
  if (person.role !== 'admin' && person.role !== 'auditor') {
    return <Empty title="This page is for administrators and auditors" text="Your own password, sessions and keys are under your name, at the end of the navigation." />;
  }
  const tabs = <Tabs label="People" items={[['/people', 'People'], ['/people/keys', 'API keys'], ['/people/log', 'Admin log']]} />;
  return (
    <Switch>
      <Route path="/people">
        <List tabs={tabs} mayChange={person.role === 'admin'} />
      </Route>
      <Route path="/people/keys">
        <Page title="People">
          {tabs}
          <AllKeys mayRevoke={person.role === 'admin'} />
        </Page>
      </Route>
      <Route path="/people/log">
        <Page title="People">
          {tabs}
          <AdminLog />
        </Page>
      </Route>
      <Route>
        <Redirect to="/people" replace />
      </Route>
    </Switch>
  );
}

function List({ tabs, mayChange }: { tabs: React.ReactNode; mayChange: boolean }) {
  const people = useResource('people', (signal) => api.get<{ people: Person[] }>('/api/people', signal));
  const [inviting, setInviting] = useState(false);
  const [open, setOpen] = useState<string>();
  const chosen = people.data?.people.find((p) => p.id === open);
  return (
    <Page
      title="People"
      actions={
        mayChange && (
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      {tabs}
      {people.error && <ErrorNote error={people.error} retry={people.reload} />}
      {people.data ? <Table label="People" columns={columns} rows={people.data.people} rowKey={(p) => p.id} onOpen={(p) => setOpen(p.id)} /> : people.loading && <Loading />}
      {inviting && (
        <Invite
          onClose={() => {
            setInviting(false);
            people.reload();
          }}
        />
      )}
      {chosen && <PersonDialog person={chosen} mayChange={mayChange} onChange={people.reload} onClose={() => setOpen(undefined)} />}
    </Page>
  );
}

const columns: Column<Person>[] = [
  { key: 'name', head: 'Name', width: 'minmax(9rem, 2fr)', cell: (p) => <b>{p.name}</b> },
  { key: 'email', head: 'E-mail', width: 'minmax(12rem, 3fr)', cell: (p) => p.email },
  { key: 'role', head: 'Role', width: '7rem', cell: (p) => p.role },
  { key: 'state', head: 'State', width: '7rem', cell: (p) => <State of={p} /> },
  { key: 'seen', head: 'Last seen', width: '10rem', cell: (p) => (p.seen ? when(p.seen) : 'never') },
];

function State({ of: p }: { of: Person }) {
  if (p.disabled) return <Badge tone="bad">disabled</Badge>;
  return p.password || p.seen ? <Badge tone="good">active</Badge> : <Badge tone="warn">invited</Badge>;
}
