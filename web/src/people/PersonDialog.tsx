import { useState } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';
import { LinkShown, RoleField } from './Invite';
import { SessionList } from './Sessions';
import type { OneTimeLink, Person } from './types';

// PersonDialog shows one person: role, state, sessions, and a new link.
export function PersonDialog({ person, mayChange, onChange, onClose }: { person: Person; mayChange: boolean; onChange: () => void; onClose: () => void }) {
  const me = useSession().person.id === person.id;
  const [name, setName] = useState(person.name);
  const [role, setRole] = useState(person.role);
  const [link, setLink] = useState<OneTimeLink>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const path = `/api/people/${encodeURIComponent(person.id)}`;
  const act = async (what: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
      onChange();
    } catch (e) {
      setError(asApiError(e));
    }
    setBusy(false);
  };
  const changed = name.trim() !== person.name || role !== person.role;
  return (
    <Dialog title={person.name} onClose={onClose}>
      <p className="quiet">{person.email}</p>
      {mayChange && (
        <div className="form">
          <Field label="Name">
            <input value={name} onChange={(e) => setName(e.target.value)} />
          </Field>
          <RoleField role={role} onChange={setRole} />
          {error && <ErrorNote error={error} />}
          <div className="form-row">
            <Button kind="primary" disabled={!changed} busy={busy} onClick={() => void act(() => api.patch(path, { name: name.trim(), role }))}>
              Save
            </Button>
            {!person.disabled && !link && (
              <Button icon="link" busy={busy} onClick={() => void act(async () => setLink(await api.post<OneTimeLink>(`${path}/link`)))}>
                New link for a password
              </Button>
            )}
            {person.disabled ? (
              <Button busy={busy} onClick={() => void act(() => api.patch(path, { disabled: false }))}>
                Enable
              </Button>
            ) : (
              !me && (
                <Button kind="danger" busy={busy} onClick={() => void act(() => api.patch(path, { disabled: true }))}>
                  Disable
                </Button>
              )
            )}
          </div>
          {person.disabled && <p className="quiet">Disabled: the sessions have ended, and the keys are refused.</p>}
          {link && <LinkShown link={link} name={person.name} />}
        </div>
      )}
      <h3>Sessions</h3>
      <SessionList path={`${path}/sessions`} mayEnd={mayChange} key={String(person.disabled)} />
    </Dialog>
  );
}
