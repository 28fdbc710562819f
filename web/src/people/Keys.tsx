import { useState } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { onDay, when } from '../parts/format';
import { NewKey } from './NewKey';
import type { Key, Person } from './types';

// MyKeys are the keys of who is signed in.
export function MyKeys() {
  const [asking, setAsking] = useState(false);
  const [round, setRound] = useState(0);
  return (
    <>
      <div className="page-head">
        <p className="quiet">A key lets a program ask in your name: with your role, and for the scopes that you choose.</p>
        <Button kind="primary" icon="plus" onClick={() => setAsking(true)}>
          New key
        </Button>
      </div>
      <KeyTable key={round} path="/api/keys" mayRevoke />
      {asking && (
        <NewKey
          onClose={() => {
            setAsking(false);
            setRound(round + 1);
          }}
        />
      )}
    </>
  );
}

// AllKeys are the keys of everybody in the organisation.
export function AllKeys({ mayRevoke }: { mayRevoke: boolean }) {
  const people = useResource('people', (signal) => api.get<{ people: Person[] }>('/api/people', signal));
  const owners = new Map(people.data?.people.map((p) => [p.id, p.name]));
  return <KeyTable path="/api/keys?of=all" owners={owners} mayRevoke={mayRevoke} />;
}

function KeyTable({ path, owners, mayRevoke }: { path: string; owners?: Map<string, string>; mayRevoke: boolean }) {
  const keys = useResource(path, (signal) => api.get<{ keys: Key[] }>(path, signal));
  const [error, setError] = useState<ApiError>();
  const revoke = async (k: Key) => {
    setError(undefined);
    try {
      await api.delete(`/api/keys/${encodeURIComponent(k.id)}`);
      keys.reload();
    } catch (e) {
      setError(asApiError(e));
    }
  };
  const columns: Column<Key>[] = [
    { key: 'label', head: 'For', width: 'minmax(9rem, 2fr)', cell: (k) => <b title={k.id}>{k.label || k.id}</b> },
    ...(owners ? [{ key: 'person', head: 'Person', width: 'minmax(8rem, 1fr)', cell: (k: Key) => owners.get(k.person) ?? k.person }] : []),
    { key: 'scopes', head: 'Scopes', width: 'minmax(13rem, 2fr)', cell: (k) => k.scopes.join(', ') },
    { key: 'state', head: 'State', width: '6rem', cell: (k) => <State of={k} /> },
    { key: 'expires', head: 'Expires', width: '7rem', cell: (k) => (k.expires ? onDay(k.expires) : 'never') },
    { key: 'used', head: 'Last used', width: '9rem', cell: (k) => (k.used ? when(k.used) : 'never') },
    {
      key: 'revoke',
      head: <span className="hidden">Revoke</span>,
      width: '5.5rem',
      cell: (k) =>
        mayRevoke &&
        !k.revoked && (
          <Button small kind="danger" onClick={() => void revoke(k)} aria-label={`Revoke ${k.label || k.id}`}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      {keys.error && <ErrorNote error={keys.error} retry={keys.reload} />}
      {error && <ErrorNote error={error} />}
      {keys.data ? <Table label="API keys" columns={columns} rows={keys.data.keys} rowKey={(k) => k.id} empty="No keys yet." /> : keys.loading && <Loading />}
    </>
  );
}

function State({ of: k }: { of: Key }) {
  if (k.revoked) return <Badge>revoked</Badge>;
  if (k.expires && new Date(k.expires) <= new Date()) return <Badge tone="warn">expired</Badge>;
  return <Badge tone="good">live</Badge>;
}
