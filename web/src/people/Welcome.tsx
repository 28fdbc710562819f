import { useEffect, useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { signInByLink } from '../api/session';
import { Button } from '../parts/Button';
import { Check, Field } from '../parts/Field';
import { ErrorNote, Loading } from '../parts/States';
import { exactly } from '../parts/format';
import type { Invitation } from './types';

// Welcome uses a one-time link: its person sets a password, and is signed in. The token is in the fragment, which browsers send to nobody;
// it is taken out of the address, so that the history doesn't keep it.
export function Welcome() {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '');
  const [invitation, setInvitation] = useState<Invitation>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    if (location.hash) history.replaceState(null, '', '/welcome');
    api.post<Invitation>('/api/session/link/check', { token }).then(setInvitation, (e: unknown) => setError(asApiError(e)));
  }, [token]);
  if (error) {
    return (
      <>
        <h1>Welcome</h1>
        <ErrorNote error={error} />
        <a href="/signin">Sign in with a password instead</a>
      </>
    );
  }
  return invitation ? <SetPassword token={token} invitation={invitation} /> : <Loading />;
}

function SetPassword({ token, invitation }: { token: string; invitation: Invitation }) {
  const [, go] = useLocation();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const { person, organisation } = invitation;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await signInByLink(token, password, person ? undefined : { email: email.trim(), name: name.trim() });
      go('/chat', { replace: true });
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  const at = (field: string) => (error?.field === field ? error.message : undefined);
  return (
    <form className="form" onSubmit={(e) => void submit(e)} noValidate>
      <h1>Welcome{person ? `, ${person.name}` : ''}</h1>
      {person ? (
        <p>
          Choose a password to join <b>{organisation.name}</b> as {person.role}.
        </p>
      ) : (
        <p>
          You become the first administrator of <b>{organisation.name}</b>. You can then invite others.
        </p>
      )}
      {person ? (
        <input type="email" className="hidden" name="email" autoComplete="username" value={person.email} readOnly tabIndex={-1} aria-hidden="true" />
      ) : (
        <>
          <Field label="E-mail" error={at('email')}>
            <input type="email" name="email" autoComplete="username" required value={email} onChange={(e) => setEmail(e.target.value)} />
          </Field>
          <Field label="Name" error={at('name')}>
            <input name="name" autoComplete="name" required value={name} onChange={(e) => setName(e.target.value)} />
          </Field>
        </>
      )}
      <Field label="New password" error={at('password')} hint="At least 12 characters. A few words make a good one.">
        <input type={shown ? 'text' : 'password'} name="password" autoComplete="new-password" required minLength={12} value={password} onChange={(e) => setPassword(e.target.value)} />
      </Field>
      <Check label="Show the password" checked={shown} onChange={(e) => setShown(e.target.checked)} />
      {error && !['email', 'name', 'password'].includes(error.field ?? '') && <ErrorNote error={error} />}
      <Button kind="primary" type="submit" busy={busy}>
        Set the password and sign in
      </Button>
      <small>The link is good once, until {exactly(invitation.expires)}.</small>
    </form>
  );
}
