import { useState, type FormEvent } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import type { Role } from '../api/session';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';
import { Secret } from './Secret';
import { mayDo, roles, type OneTimeLink, type Person } from './types';

// Invite adds somebody and shows the link that she gets.
export function Invite({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ email: '', name: '', role: 'underwriter' as Role });
  const [done, setDone] = useState<{ person: Person; link: OneTimeLink }>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setDone(await api.post('/api/people', { ...form, email: form.email.trim() }));
    } catch (failure) {
      setError(asApiError(failure));
    }
    setBusy(false);
  };
  const at = (field: string) => (error?.field === field ? error.message : undefined);
  if (done) {
    return (
      <Dialog title={`${done.person.name} is invited`} onClose={onClose}>
        <LinkShown link={done.link} name={done.person.name} />
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)} noValidate>
        <Field label="E-mail" error={at('email')}>
          <input type="email" name="email" autoComplete="off" required autoFocus value={form.email} onChange={(e) => setForm({ ...form, email: e.target.value })} />
        </Field>
        <Field label="Name" error={at('name')}>
          <input name="name" autoComplete="off" required value={form.name} onChange={(e) => setForm({ ...form, name: e.target.value })} />
        </Field>
        <RoleField role={form.role} error={at('role')} onChange={(role) => setForm({ ...form, role })} />
        {error && !error.field && <ErrorNote error={error} />}
        <Button kind="primary" type="submit" busy={busy}>
          Invite
        </Button>
      </form>
    </Dialog>
  );
}

// RoleField chooses a role and says what it may.
export function RoleField({ role, error, onChange }: { role: Role; error?: string; onChange: (role: Role) => void }) {
  return (
    <Field label="Role" error={error} hint={`${role} ${mayDo[role]}`}>
      <select name="role" value={role} onChange={(e) => onChange(e.target.value as Role)}>
        {roles.map((r) => (
          <option key={r}>{r}</option>
        ))}
      </select>
    </Field>
  );
}

// LinkShown is a one-time link with the way to hand it on.
export function LinkShown({ link, name }: { link: OneTimeLink; name: string }) {
  return (
    <Secret label="One-time link" value={link.url} until={link.expires}>
      Send this link to {name} by a way that only {name} reads. Whoever opens it sets the password.
    </Secret>
  );
}
