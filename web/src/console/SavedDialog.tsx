import { useState } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useResource } from '../api/useResource';
import { Button, IconButton } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Check, Field } from '../parts/Field';
import { Badge, ErrorNote, Loading } from '../parts/States';
import type { Saved } from './types';

// SavedDialog lists saved statements, one's own and shared ones, and saves the one in the editor.
export function SavedDialog({ sql, onOpen, onClose }: { sql: string; onOpen: (sql: string) => void; onClose: () => void }) {
  const list = useResource('saved', (signal) => api.get<{ saved: Saved[]; people: Record<string, string> }>('/api/console/saved', signal));
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const [error, setError] = useState<ApiError>();
  const act = async (work: () => Promise<unknown>) => {
    setError(undefined);
    try {
      await work();
      list.reload();
    } catch (e) {
      setError(asApiError(e));
    }
  };
  const save = () => {
    const old = list.data?.saved.find((s) => s.own && s.name === name.trim());
    return act(() => (old ? api.put(`/api/console/saved/${encodeURIComponent(old.id)}`, { name, sql, shared }) : api.post('/api/console/saved', { name, sql, shared })));
  };
  return (
    <Dialog title="Saved statements" wide onClose={onClose}>
      <form
        className="form-row"
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <Field label="Name for the statement in the editor">
          <input required maxLength={120} value={name} onChange={(e) => setName(e.target.value)} />
        </Field>
        <Check label="Share with the organisation" checked={shared} onChange={(e) => setShared(e.target.checked)} />
        <Button kind="primary" type="submit" disabled={!sql.trim()}>
          Save
        </Button>
      </form>
      {error && <ErrorNote error={error} />}
      {list.error && <ErrorNote error={list.error} retry={list.reload} />}
      {list.loading && !list.data && <Loading />}
      <ul className="saved">
        {list.data?.saved.map((s) => (
          <li key={s.id}>
            <button
              type="button"
              className="saved-open"
              onClick={() => {
                onOpen(s.sql);
                onClose();
              }}
            >
              <b>{s.name}</b> {s.shared && <Badge tone="info">{s.own ? 'shared' : `by ${list.data?.people[s.person] ?? s.person}`}</Badge>}
              <span className="mono quiet">{s.sql}</span>
            </button>
            {s.own && <IconButton icon="trash" label={`Delete ${s.name}`} onClick={() => void act(() => api.delete(`/api/console/saved/${encodeURIComponent(s.id)}`))} />}
          </li>
        ))}
        {list.data?.saved.length === 0 && <li className="quiet">None yet.</li>}
      </ul>
    </Dialog>
  );
}
