import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Page } from '../parts/Page';
import { ErrorNote, Loading, Note } from '../parts/States';
import { plural } from '../parts/format';
import { Changes } from './Changes';
import { Trial } from './Trial';
import type { Checked, Draft } from './types';

// Editor is a draft, checked while it is typed.
export function Editor({ id }: { id: string }) {
  const draft = useResource(id, (signal) => api.get<Draft>(`/api/guidelines/drafts/${encodeURIComponent(id)}`, signal));
  if (draft.error) return <Page title="Draft"><ErrorNote error={draft.error} retry={draft.reload} /></Page>;
  if (!draft.data) return <Loading />;
  return <Form key={id} draft={draft.data} />;
}

function Form({ draft }: { draft: Draft }) {
  const { person } = useSession();
  const [text, setText] = useState(draft.text ?? '');
  const [saved, setSaved] = useState({ text: draft.text ?? '', revision: draft.revision });
  const [checked, setChecked] = useState<Checked>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [publishing, setPublishing] = useState(false);
  const [, go] = useLocation();
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const path = `/api/guidelines/drafts/${encodeURIComponent(draft.id)}`;

  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.post<Checked>('/api/guidelines/check', { text }, stop.signal).then(setChecked, (e: unknown) => {
        if (!stop.signal.aborted) setError(asApiError(e));
      });
    }, 300);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);

  const act = async (what: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
    } catch (e) {
      setError(asApiError(e));
    }
    setBusy(false);
  };
  const save = async () => {
    const d = await api.put<Draft>(path, { text, revision: saved.revision });
    setSaved({ text, revision: d.revision });
    return d.revision;
  };
  const jump = (line: number) => {
    const start = text.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (text.slice(start).split('\n')[0]?.length ?? 0));
  };
  const lines = text.split('\n').length;
  const wrong = new Set(checked?.problems.map((p) => p.line));
  const good = checked?.problems.length === 0;
  return (
    <Page
      title={checked?.guideline ? `Draft of ${checked.guideline.key}` : 'Draft'}
      actions={
        <>
          <Button busy={busy} disabled={text === saved.text} onClick={() => void act(async () => void (await save()))}>{text === saved.text ? 'Saved' : 'Save'}</Button>
          {person.role === 'admin' && <Button kind="primary" busy={busy} disabled={!good} onClick={() => setPublishing(true)}>Publish…</Button>}
          <Button kind="danger" busy={busy} onClick={() => void act(async () => { await api.delete(path); go('/guidelines'); })}>Discard</Button>
        </>
      }
    >
      {error && <ErrorNote error={error} />}
      <div className="guideline-editor">
        <div className="guideline-lines" ref={gutter} aria-hidden="true">
          {Array.from({ length: lines }, (_, i) => <div key={i} data-wrong={wrong.has(i + 1)}>{i + 1}</div>)}
        </div>
        <textarea ref={area} aria-label="Guideline" className="mono" wrap="off" spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} onScroll={(e) => { if (gutter.current) gutter.current.scrollTop = e.currentTarget.scrollTop; }} />
      </div>
      <section aria-live="polite">
        {checked && !good && (
          <>
            <h2>{plural(checked.problems.length, 'problem')}</h2>
            <ul className="guideline-problems" aria-label="Problems">
              {checked.problems.map((p, i) => (
                <li key={i}>
                  <button type="button" className="guideline-jump" onClick={() => jump(p.line)}>line {p.line}</button> {p.message}
                  {p.hint && <small> {p.hint}</small>}
                </li>
              ))}
            </ul>
          </>
        )}
        {good && checked.guideline && (
          <Note kind="good">Nothing wrong: {plural(checked.guideline.rules, 'rule')}, effective {checked.guideline.effective}.</Note>
        )}
      </section>
      {good && checked.changes && (
        <section className="card guideline-card">
          <h2>What changes from {checked.against}</h2>
          <Changes changes={checked.changes} />
        </section>
      )}
      {good && <Trial text={text} />}
      {publishing && checked?.guideline && (
        <Dialog title={`Publish ${checked.guideline.key}?`} onClose={() => setPublishing(false)}>
          <p>From {checked.guideline.effective} on, submissions of {checked.guideline.carrier} are judged by it. A published version never changes; a newer one replaces it.</p>
          <div className="form-row">
            <Button
              kind="primary"
              busy={busy}
              onClick={() =>
                void act(async () => {
                  setPublishing(false);
                  const revision = text === saved.text ? saved.revision : await save();
                  const v = await api.post<{ key: string }>(`${path}/publish`, { revision });
                  go(`/guidelines/${encodeURIComponent(v.key)}`);
                })
              }
            >
              Publish
            </Button>
            <Button kind="quiet" onClick={() => setPublishing(false)}>Not yet</Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}
