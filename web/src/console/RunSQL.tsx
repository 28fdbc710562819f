import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { bytes, count, plural } from '../parts/format';
import { Button } from '../parts/Button';
import { Loading, Note } from '../parts/States';
import { keepDraft, setDraft, useDraft } from './draft';
import { Editor } from './Editor';
import { PlanView } from './PlanView';
import { Refusal } from './Refusal';
import { ResultTable } from './ResultTable';
import { SavedDialog } from './SavedDialog';
import type { Schema } from './types';
import { previewRows, shownRows, useRun, type Run } from './useRun';

// RunSQL is for SQL of one's own, under one's own role.
export function RunSQL({ schema, onRan }: { schema?: Schema; onRan: () => Promise<void> }) {
  const draft = useDraft();
  const { run, query, explain, cancel, ...more } = useRun();
  const ended = !run.busy && !!(run.result ?? run.plan ?? run.exported ?? run.error ?? run.cancelled);
  useEffect(() => {
    if (ended) void onRan();
  }, [ended]);
  const [saved, setSaved] = useState(false);
  const [format, setFormat] = useState('csv');
  const sql = () => draft.sql.trim();
  const go = (rows = previewRows) => sql() && void query(sql(), rows);
  return (
    <div className="run-sql">
      <div className="editor-box">
        <Editor text={draft.sql} round={draft.round} schema={schema} place={run.error?.position} onText={keepDraft} onRun={() => go()} onCancel={cancel} />
      </div>
      <div className="run-bar" role="toolbar" aria-label="Run SQL">
        {run.busy ? (
          <Button kind="danger" small icon="stop" onClick={cancel} title="Escape">
            Cancel
          </Button>
        ) : (
          <Button kind="primary" small icon="play" onClick={() => go()} title="Ctrl+Enter">
            Run
          </Button>
        )}
        <Button small disabled={!!run.busy} onClick={() => sql() && void explain(sql())}>
          Explain
        </Button>
        <Button small onClick={() => setSaved(true)}>
          Saved
        </Button>
        <span className="export">
          <select aria-label="Format of the export" value={format} onChange={(e) => setFormat(e.target.value)}>
            <option value="csv">CSV</option>
            <option value="xlsx">Excel</option>
            <option value="parquet">Parquet</option>
            <option value="arrow">Arrow</option>
          </select>
          <Button small icon="down" disabled={!!run.busy} onClick={() => sql() && void more.export(sql(), format)}>
            Export
          </Button>
        </span>
      </div>
      <Below run={run} all={() => go(shownRows)} schema={schema} />
      {saved && <SavedDialog sql={draft.sql} onOpen={setDraft} onClose={() => setSaved(false)} />}
    </div>
  );
}

// Below is what stands under the editor: rows, a plan, a refusal, or how to begin.
function Below({ run, all, schema }: { run: Run; all: () => void; schema?: Schema }) {
  const { result } = run;
  if (run.error) return <Refusal error={run.error} />;
  if (run.cancelled) return <Note>Cancelled. The record says that the statement was interrupted.</Note>;
  if (run.plan) return <PlanView plan={run.plan} />;
  if (run.exported) {
    return (
      <Note kind="good">
        {plural(run.exported.rows, 'row')}, {bytes(run.exported.bytes)} of {run.exported.format}
        {run.exported.truncated && ', cut at the limit of your role'}. The file can be fetched for an hour.
      </Note>
    );
  }
  if (!result) return run.busy ? <Loading what={run.busy === 'export' ? 'Writing the file' : 'Running'} /> : <Begin schema={schema} />;
  return (
    <>
      <p className="run-status" role="status">
        {result.answer ? (
          <>
            {plural(result.rows.length, 'row')}
            {result.answer.truncated && ', there are more'}
            {` · ${result.answer.ms.toFixed(1)} ms · generation `}
            <code>{result.answer.generation}</code>
            {' · '}
            <Link href={`/console/statements/${result.answer.audit_id}`}>record</Link>
            {result.answer.clipped ? ` · ${plural(result.answer.clipped, 'long value')} cut, whole in an export` : ''}
            {result.answer.truncated && result.rows.length <= previewRows && (
              <Button small kind="quiet" onClick={all}>
                Load up to {count(shownRows)}
              </Button>
            )}
          </>
        ) : (
          `${plural(result.rows.length, 'row')} so far…`
        )}
      </p>
      <ResultTable columns={result.columns} rows={result.rows} label="Result" />
    </>
  );
}

// Begin names what there is to ask about.
function Begin({ schema }: { schema?: Schema }) {
  if (!schema) return null;
  return (
    <div className="begin">
      <p className="quiet">Ctrl+Enter runs, Escape cancels. Statements are recorded under your name, and see what your role sees.</p>
      <ul>
        {schema.relations.map((r) => (
          <li key={r.name}>
            <button type="button" className="link mono" title={r.example} onClick={() => setDraft(r.example)}>
              {r.name}
            </button>{' '}
            <span className="quiet">
              {r.meaning}
              {r.filtered && ' (some rows)'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
