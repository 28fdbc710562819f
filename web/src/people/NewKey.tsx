import { useState, type FormEvent } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Check, Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';
import { Secret } from './Secret';
import { scopes, type Key, type Scope } from './types';

// NewKey asks what a key is for, and shows its secret once.
export function NewKey({ onClose }: { onClose: () => void }) {
  const [label, setLabel] = useState('');
  const [chosen, setChosen] = useState<Scope[]>(['read']);
  const [days, setDays] = useState('90');
  const [done, setDone] = useState<{ key: Key; secret: string }>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setDone(await api.post('/api/keys', { label: label.trim(), scopes: chosen, days: Number(days) }));
    } catch (failure) {
      setError(asApiError(failure));
    }
    setBusy(false);
  };
  const at = (field: string) => (error?.field === field ? error.message : undefined);
  if (done) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <Secret label="API key" value={done.secret} until={done.key.expires}>
          Keep this key where programs keep secrets. Whoever has it acts in your name.
        </Secret>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)} noValidate>
        <Field label="What is it for?" error={at('label')}>
          <input required autoFocus autoComplete="off" value={label} onChange={(e) => setLabel(e.target.value)} />
        </Field>
        <fieldset className="scopes" aria-describedby={at('scopes') ? 'scopes-error' : undefined}>
          <legend>Scopes</legend>
          {(Object.keys(scopes) as Scope[]).map((s) => (
            <Check
              key={s}
              checked={chosen.includes(s)}
              onChange={(e) => setChosen(e.target.checked ? [...chosen, s] : chosen.filter((c) => c !== s))}
              label={
                <>
                  <b>{s}</b> <span className="quiet">{scopes[s]}</span>
                </>
              }
            />
          ))}
          {at('scopes') && (
            <small id="scopes-error" className="field-error" role="alert">
              {at('scopes')}
            </small>
          )}
        </fieldset>
        <Field label="Expires" error={at('days')}>
          <select value={days} onChange={(e) => setDays(e.target.value)}>
            <option value="7">in a week</option>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
            <option value="0">never</option>
          </select>
        </Field>
        {error && !error.field && <ErrorNote error={error} />}
        <Button kind="primary" type="submit" busy={busy}>
          Make the key
        </Button>
      </form>
    </Dialog>
  );
}
