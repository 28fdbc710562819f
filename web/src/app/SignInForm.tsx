import { useEffect, useState, type FormEvent } from 'react';
import { query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { lookAgain, signIn } from '../api/session';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';

interface Props {
  email?: string; // known: only the password is asked, over a page that stays
  organisation?: string;
  to?: string; // the page to go to after signing in elsewhere
  onDone?: () => void;
}

// SignInForm takes an e-mail address and a password, or leads to the organisation's own sign-in.
export function SignInForm({ email: known, organisation, to, onDone }: Props) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const sso = useSingleSignOn();
  const submit = async (org = organisation) => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(email.trim(), password, org);
      onDone?.();
    } catch (e) {
      const failure = asApiError(e);
      setError(failure);
      if (!failure.organisations) setPassword('');
    }
    setBusy(false);
  };
  const onSubmit = (e: FormEvent) => {
    e.preventDefault();
    void submit();
  };
  if (error?.organisations) {
    return (
      <div className="form">
        <p>Your address and password fit several organisations. Where do you want to sign in?</p>
        {error.organisations.map((o) => (
          <Button key={o.id} busy={busy} onClick={() => void submit(o.id)}>
            {o.name}
          </Button>
        ))}
        <Button kind="quiet" onClick={() => setError(undefined)}>
          Back
        </Button>
      </div>
    );
  }
  const at = (field: string) => (error?.field === field ? said(error) : undefined);
  const elsewhere = `/api/session/oidc${query({ email: email.trim(), organisation, return: to })}`;
  return (
    <form className="form" onSubmit={onSubmit} noValidate>
      <Field label="E-mail" error={at('email')}>
        <input type="email" name="email" autoComplete="username" required value={email} readOnly={known !== undefined} onChange={(e) => setEmail(e.target.value)} />
      </Field>
      <Field label="Password" error={at('password')}>
        <input type="password" name="password" autoComplete="current-password" required autoFocus={known !== undefined} value={password} onChange={(e) => setPassword(e.target.value)} />
      </Field>
      {error && error.field !== 'email' && error.field !== 'password' && <ErrorNote error={error} />}
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
      {sso && known === undefined && (
        <Button disabled={!email.includes('@')} title={email.includes('@') ? undefined : 'Fill in your e-mail address first'} onClick={() => location.assign(elsewhere)}>
          Sign in with your organisation
        </Button>
      )}
      {sso && known !== undefined && <SignInElsewhere href={elsewhere} />}
    </form>
  );
}

// SignInElsewhere opens the organisation's sign-in in a tab of its own: this page must stay. When one comes back, it goes on.
function SignInElsewhere({ href }: { href: string }) {
  useEffect(() => {
    const look = () => void lookAgain();
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);
  return (
    <a className="button" href={href} target="_blank" rel="noopener noreferrer">
      Sign in with your organisation, in a new tab
    </a>
  );
}

// useSingleSignOn tells whether some organisation has its own identity provider.
function useSingleSignOn(): boolean {
  const [on, setOn] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    fetch('/api/session/methods', { signal: stop.signal })
      .then(async (r) => setOn(r.ok && ((await r.json()) as { oidc: boolean }).oidc))
      .catch(() => {}); // the form says what is wrong when it is used
    return () => stop.abort();
  }, []);
  return on;
}

function said(e: ApiError) {
  const text = `${e.message}${e.hint ? `; ${e.hint}` : ''}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
