import { useState, type FormEvent } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Page } from '../parts/Page';
import { ErrorNote, Note } from '../parts/States';
import { MyKeys } from './Keys';
import { SessionList } from './Sessions';
import { Tabs } from './Tabs';
import { mayDo } from './types';
import './people.css';

// Everything below /account: what concerns the person who is signed in.
export default function Account() {
  const tabs = <Tabs label="Your account" items={[['/account', 'Password and sessions'], ['/account/keys', 'API keys']]} />;
  return (
    <Switch>
      <Route path="/account">
        <Page title="Your account">
          {tabs}
          <Me />
        </Page>
      </Route>
      <Route path="/account/keys">
        <Page title="Your account">
          {tabs}
          <MyKeys />
        </Page>
      </Route>
      <Route>
        <Redirect to="/account" replace />
      </Route>
    </Switch>
  );
}

function Me() {
  const { person, organisation } = useSession();
  return (
    <div className="account">
      <section>
        <h2>{person.name}</h2>
        <p>{person.email}</p>
        <p className="quiet">
          {person.role} of {organisation.name}: {mayDo[person.role]}.
        </p>
      </section>
      <section>
        <h2>Password</h2>
        <ChangePassword />
      </section>
      <section>
        <h2>Where you are signed in</h2>
        <SessionList path="/api/sessions" one={(id) => `/api/sessions/${encodeURIComponent(id)}`} mayEnd />
      </section>
    </div>
  );
}

function ChangePassword() {
  const { person } = useSession();
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setDone(false);
    setError(undefined);
    try {
      await api.post('/api/password', { old, password });
      setOld('');
      setPassword('');
      setDone(true);
    } catch (failure) {
      setError(asApiError(failure));
    }
    setBusy(false);
  };
  const at = (field: string) => (error?.field === field ? error.message : undefined);
  return (
    <form className="form narrow" onSubmit={(e) => void submit(e)} noValidate>
      <input type="email" className="hidden" autoComplete="username" value={person.email} readOnly tabIndex={-1} aria-hidden="true" />
      <Field label="Old password" error={at('old')}>
        <input type="password" autoComplete="current-password" required value={old} onChange={(e) => setOld(e.target.value)} />
      </Field>
      <Field label="New password" error={at('password')} hint="At least 12 characters. Your other sessions end.">
        <input type="password" autoComplete="new-password" required minLength={12} value={password} onChange={(e) => setPassword(e.target.value)} />
      </Field>
      {error && error.field !== 'old' && error.field !== 'password' && <ErrorNote error={error} />}
      {done && <Note kind="good">The password is changed.</Note>}
      <div>
        <Button type="submit" busy={busy} disabled={!old || !password}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
