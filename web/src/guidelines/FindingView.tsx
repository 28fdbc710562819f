import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { exactly } from '../parts/format';
import { dispositions, toneOf, type Evidence, type Finding } from './types';

// FindingView is one finding with its evidence, and what people say of it.
export function FindingView({ path, id, onClose, onSaved }: { path: string; id: string; onClose: () => void; onSaved: () => void }) {
  const { person } = useSession();
  const one = useResource(id, (signal) => api.get<{ finding: Finding; revision: number }>(`${path}/findings/${encodeURIComponent(id)}`, signal));
  const [said, setSaid] = useState({ disposition: '', comment: '' });
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const f = one.data?.finding;
  useEffect(() => {
    if (f) setSaid({ disposition: f.disposition ?? '', comment: f.comment ?? '' });
  }, [f]);
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await api.put(`${path}/findings/${encodeURIComponent(id)}/review`, { ...said, revision: one.data!.revision });
      onSaved();
      onClose();
    } catch (e) {
      setError(asApiError(e));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Finding ${id}`} wide onClose={onClose}>
      {one.error && <ErrorNote error={one.error} retry={one.reload} />}
      {!f && !one.error && <Loading />}
      {f && (
        <>
          <p><Badge tone={toneOf(f.severity)}>{f.severity}</Badge> <code>{f.rule_id}</code> {f.guideline} · {f.submission_id} · {f.entity}</p>
          <p><b>{f.message}</b></p>
          {(f.stated || f.expected) && <p>{[f.stated && `Stated: ${f.stated}`, f.expected && `Expected: ${f.expected}`].filter(Boolean).join(' · ')}</p>}
          {f.explanation && <p>{f.explanation}</p>}
          {f.missing && <p>Can’t be told: {f.missing.join(', ')}</p>}
          <h3>Evidence</h3>
          <ul className="run-evidence" aria-label="Evidence">{f.evidence?.map((e, i) => <EvidenceLine key={i} e={e} />)}</ul>
          {person.role === 'auditor' ? (
            <p>{dispositions[f.disposition ?? '']}: {f.comment}</p>
          ) : (
            <div className="form">
              <Field label="Disposition">
                <select value={said.disposition} onChange={(e) => setSaid({ ...said, disposition: e.target.value })}>
                  {Object.entries(dispositions).map(([k, v]) => <option key={k} value={k}>{v}</option>)}
                </select>
              </Field>
              <Field label="Comment"><textarea rows={3} maxLength={4000} value={said.comment} onChange={(e) => setSaid({ ...said, comment: e.target.value })} /></Field>
              {error && <ErrorNote error={error} retry={one.reload} />}
              <div className="form-row">
                <Button kind="primary" busy={busy} onClick={() => void save()}>Save</Button>
                {f.reviewed_by && <small>{f.reviewed_by}, {exactly(f.reviewed_at!)}</small>}
              </div>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}

function EvidenceLine({ e }: { e: Evidence }) {
  return (
    <li>
      <b>{e.kind}</b>
      {e.filename && <> {e.filename}{e.page ? `, page ${e.page}` : ''}</>}
      {e.field && <> · {e.field}</>}
      {e.raw !== undefined && e.raw !== '' && <> · “{e.raw}”</>}
      {e.value && e.value !== e.raw && <> read as {e.value}</>}
      {e.confidence ? <> · confidence {e.confidence.toFixed(2)}</> : null}
      {e.edited_by && <> · edited by {e.edited_by}</>}
      {e.source && <> · {e.source}</>}
      {e.audit_id && <> · <Link href={`/console/statements/${e.audit_id}`}>the query that read it</Link></>}
    </li>
  );
}
