import { useState } from 'react';
import { asApiError, type ApiError } from '../api/error';
import { signIn } from '../api/session';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';

// SignInForm takes an e-mail address and a password. With email given, only the password is asked.
export function SignInForm({ email: known, organisation, onDone }: { email?: string; organisation?: string; onDone?: () => void }) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(email, password, organisation);
      onDone?.();
    } catch (e) {
      setError(asApiError(e));
      setPassword('');
    }
    setBusy(false);
  };
  return (
    <form
      className="form"
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
    >
      <Field label="E-mail">
        <input type="email" name="email" autoComplete="username" required value={email} readOnly={known !== undefined} onChange={(e) => setEmail(e.target.value)} />
      </Field>
      <Field label="Password">
        <input type="password" name="password" autoComplete="current-password" required autoFocus={known !== undefined} value={password} onChange={(e) => setPassword(e.target.value)} />
      </Field>
      {error && <ErrorNote error={error} />}
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
    </form>
  );
}
