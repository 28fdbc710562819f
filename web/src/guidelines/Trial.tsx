import { useState, type FormEvent } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Badge, ErrorNote } from '../parts/States';
import { plural } from '../parts/format';
import { toneOf, type Finding } from './types';

// Trial judges one submission by the text as it stands; nothing is stored.
export function Trial({ text }: { text: string }) {
  const [submission, setSubmission] = useState('');
  const [out, setOut] = useState<{ decision: string; findings: Finding[] }>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const run = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setOut(await api.post('/api/guidelines/try', { text, submission: submission.trim() }));
    } catch (failure) {
      setOut(undefined);
      setError(asApiError(failure));
    }
    setBusy(false);
  };
  return (
    <section className="card guideline-card" aria-label="Try it">
      <h2>Try it on one submission</h2>
      <form className="form-row" onSubmit={(e) => void run(e)}>
        <Field label="Submission"><input value={submission} onChange={(e) => setSubmission(e.target.value)} spellCheck={false} /></Field>
        <Button type="submit" busy={busy} disabled={!submission.trim()}>Try</Button>
      </form>
      {error && <ErrorNote error={error} />}
      {out && (
        <>
          <p>Decision: <b>{out.decision}</b>, {plural(out.findings.length, 'finding')}.</p>
          <ul className="guideline-findings" aria-label="Findings of the trial">
            {out.findings.map((f) => <li key={f.id}><Badge tone={toneOf(f.severity)}>{f.severity}</Badge> <code>{f.rule_id}</code> {f.message}</li>)}
          </ul>
        </>
      )}
    </section>
  );
}
