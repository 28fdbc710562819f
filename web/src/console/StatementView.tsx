import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { api, query } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useResource } from '../api/useResource';
import { bytes, count, exactly } from '../parts/format';
import { Button } from '../parts/Button';
import { ErrorNote, Loading, Note } from '../parts/States';
import { setDraft } from './draft';
import { addressOf } from './filters';
import { Marked } from './Marked';
import { Outcome } from './outcome';
import { PlanView } from './PlanView';
import type { Plan, Statement } from './types';
import { Uses } from './Uses';

// StatementView is all that is on record of one statement.
export function StatementView({ id }: { id: string }) {
  const { data: s, error, reload } = useResource(id, (signal) => api.get<Statement>(`/api/console/statements/${encodeURIComponent(id)}`, signal));
  const [, navigate] = useLocation();
  if (error) return <ErrorNote error={error} retry={error.retryable ? reload : undefined} />;
  if (!s) return <Loading />;
  const ran = s.decision === 'allowed' && s.outcome !== 'running';
  const edit = () => {
    setDraft(s.sql_asked.replace(/^EXPLAIN /, ''));
    navigate('/console/sql');
  };
  return (
    <article className="statement" aria-label={`Statement ${s.audit_id}`}>
      <header className="statement-title">
        <Outcome of={s} />
        <b>{s.person_name ?? s.person}</b>
        <span className="quiet">
          {s.role}, {s.via}
        </span>
        <time dateTime={s.asked_at}>{exactly(s.asked_at)}</time>
      </header>
      {s.message && (
        <div className="note note-error">
          <div>
            <p>
              <b>{s.message}</b>
            </p>
            {s.hint && <p>{s.hint}</p>}
            {s.rule && (
              <small>
                Rule <code>{s.rule}</code>
              </small>
            )}
          </div>
        </div>
      )}
      <section>
        <h3>Asked</h3>
        <Marked sql={s.sql_asked} position={s.position} label="SQL as asked" />
        {s.redacted && <small>Values that may be masked are left out of the record.</small>}
        <div className="form-row">
          <Button small icon="pencil" onClick={edit}>
            Copy to Run SQL
          </Button>
          {ran && !s.redacted && (
            <Link className="button button-plain button-small" href={`/console/compare${query({ left: s.audit_id, right: s.audit_id })}`}>
              Compare with now
            </Link>
          )}
        </div>
      </section>
      {s.sql_run && (
        <section>
          <h3>Run</h3>
          <Marked sql={s.sql_run} label="SQL as run" />
        </section>
      )}
      <dl className="facts">
        <Fact name="Rows">{ran && `${count(s.rows)}${s.truncated ? ', cut at the limit' : ''}`}</Fact>
        <Fact name="Size">{ran && bytes(s.bytes)}</Fact>
        <Fact name="Waited">{ran && `${s.queue_ms.toFixed(1)} ms`}</Fact>
        <Fact name="Ran">{ran && `${s.run_ms.toFixed(1)} ms`}</Fact>
        <Fact name="Generation">{s.generation && <code>{s.generation}</code>}</Fact>
        <Fact name="Masked as">{s.profile}</Fact>
        <Fact name="Relations">{s.relations.map((r) => <Link key={r} href={addressOf({ relation: r })}>{r}</Link>)}</Fact>
        <Fact name="Columns">{s.columns.map((c) => <Link key={c} href={addressOf(c.endsWith('.*') ? { relation: c.slice(0, -2) } : { column: c })}>{c}</Link>)}</Fact>
        <Fact name="Turn">{s.turn && <Link href={addressOf({ turn: s.turn })}>{s.turn}</Link>}</Fact>
        <Fact name="Conversation">{s.conversation && <Link href={`/chat/${encodeURIComponent(s.conversation)}`}>{s.conversation}</Link>}</Fact>
        <Fact name="Sandbox">{s.sandbox}</Fact>
      </dl>
      <Uses of={s} />
      {ran && !s.redacted && <PlanOf id={s.audit_id} />}
      <section>
        <h3>Chain</h3>
        <dl className="facts">
          <Fact name="Record">
            <code>{s.audit_id}</code>
          </Fact>
          <Fact name="Entries">
            {s.seq} to {s.last_seq}
          </Fact>
          <Fact name="Hash">
            <code>{s.hash}</code>
          </Fact>
          <Fact name="Hash before it">{s.prev_hash && <code>{s.prev_hash}</code>}</Fact>
        </dl>
      </section>
    </article>
  );
}

// Fact is a name and a value; without a value it isn't shown.
function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children || (Array.isArray(children) && children.every((c) => !c))) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

// PlanOf asks for a plan when it is wanted: the asking is a query of its own.
function PlanOf({ id }: { id: string }) {
  const [state, setState] = useState<{ plan?: Plan; error?: ApiError; busy?: boolean }>({});
  const ask = async () => {
    setState({ busy: true });
    try {
      setState({ plan: await api.post<Plan>(`/api/console/statements/${encodeURIComponent(id)}/plan`, {}) });
    } catch (e) {
      setState({ error: asApiError(e) });
    }
  };
  return (
    <section>
      <h3>Plan</h3>
      {!state.plan && (
        <Button small busy={state.busy} onClick={() => void ask()}>
          Explain on its generation
        </Button>
      )}
      {state.error && <ErrorNote error={state.error} />}
      {state.plan && (
        <>
          <PlanView plan={state.plan} />
          {state.plan.plan.length === 0 && <Note>The database gave no plan.</Note>}
        </>
      )}
    </section>
  );
}
