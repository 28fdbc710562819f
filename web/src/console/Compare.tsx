import { useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { count, plural } from '../parts/format';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Loading } from '../parts/States';
import { Table } from '../parts/Table';
import { Refusal } from './Refusal';
import { Value } from './ResultTable';
import type { Change, Compared, ComparedSide } from './types';

type Side = 'left' | 'right';

// Compare runs two statements, or one on two generations, and shows how their results differ.
export function Compare() {
  const [search] = useSearchParams();
  const recorded = { left: search.get('left') ?? '', right: search.get('right') ?? '' };
  const [text, setText] = useState({ left: recorded.left, right: recorded.right });
  const [generation, setGeneration] = useState({ left: '', right: recorded.right ? 'newest' : '' });
  const [key, setKey] = useState(search.get('key') ?? '');
  const [state, setState] = useState<{ busy?: boolean; data?: Compared; error?: ApiError }>({});
  const compare = async () => {
    setState({ busy: true });
    const side = (s: Side) => ({ ...(/\s/.test(text[s].trim()) ? { sql: text[s] } : { audit_id: text[s].trim() }), generation: generation[s].trim() });
    const columns = key
      .split(',')
      .map((k) => k.trim())
      .filter(Boolean);
    try {
      setState({ data: await api.post<Compared>('/api/console/compare', { left: side('left'), right: side('right'), key: columns }) });
    } catch (e) {
      setState({ error: asApiError(e) });
    }
  };
  const side = (s: Side, name: string): ReactNode => (
    <fieldset className="card">
      <legend>{name}</legend>
      <Field label="SQL, or the id of a record">
        <textarea className="mono" rows={5} required spellCheck={false} value={text[s]} onChange={(e) => setText({ ...text, [s]: e.target.value })} />
      </Field>
      <Field label="Generation" hint="Empty: a record’s own, else the newest. Write newest to run a record on today’s data.">
        <input className="mono" value={generation[s]} spellCheck={false} onChange={(e) => setGeneration({ ...generation, [s]: e.target.value })} />
      </Field>
    </fieldset>
  );
  return (
    <div className="page console-page">
      <form
        className="form"
        onSubmit={(e) => {
          e.preventDefault();
          void compare();
        }}
      >
        <div className="sides">
          {side('left', 'Left')}
          {side('right', 'Right')}
        </div>
        <div className="form-row">
          <Field label="Key columns" hint="Comma between them. Without a key, rows are the same or they aren’t.">
            <input className="mono" value={key} spellCheck={false} onChange={(e) => setKey(e.target.value)} />
          </Field>
          <Button kind="primary" type="submit" busy={state.busy}>
            Compare
          </Button>
        </div>
      </form>
      {state.busy && <Loading what="Running both" />}
      {state.error && <Refusal error={state.error} />}
      {state.data && <Difference of={state.data} />}
    </div>
  );
}

function Difference({ of: d }: { of: Compared }) {
  const shown = d.changes.length;
  const all = d.added + d.removed + d.changed;
  return (
    <section className="difference" aria-label="Difference">
      <div className="sides">
        <Ran side={d.left} name="Left" />
        <Ran side={d.right} name="Right" />
      </div>
      {d.columns.length > 0 && (
        <ul>
          {d.columns.map((c) => (
            <li key={c.name}>
              Column <code>{c.name}</code>: {c.left ?? 'not there'} on the left, {c.right ?? 'not there'} on the right
            </li>
          ))}
        </ul>
      )}
      <p role="status">
        <b>
          {count(d.same)} the same, {count(d.added)} added, {count(d.removed)} removed, {count(d.changed)} changed
        </b>
        {shown < all && `; the first ${count(shown)} are shown`}
      </p>
      {shown > 0 && (
        <Table
          label="Rows that differ"
          rows={d.changes.map((c, i) => ({ ...c, i }))}
          rowKey={(c) => String(c.i)}
          columns={[{ key: 'kind', head: 'Row', width: '6rem', cell: (c: Change) => <span className={`change-${c.kind}`}>{c.kind}</span> }, ...d.compared.map((name, i) => ({ key: `c${i}`, head: name, cell: (c: Change) => <Pair of={c} at={i} /> }))]}
        />
      )}
    </section>
  );
}

function Ran({ side, name }: { side: ComparedSide; name: string }) {
  return (
    <p>
      <b>{name}</b>: generation <code>{side.generation}</code>, {plural(side.rows, 'row')}, {side.ms.toFixed(1)} ms, <Link href={`/console/statements/${side.audit_id}`}>record</Link>
    </p>
  );
}

function Pair({ of: c, at }: { of: Change; at: number }) {
  const left = c.left?.[at];
  const right = c.right?.[at];
  if (c.kind !== 'changed') return <Value of={(c.kind === 'added' ? right : left) ?? null} />;
  if (left === right) return <Value of={left ?? null} />;
  return (
    <>
      <del>
        <Value of={left ?? null} />
      </del>{' '}
      <ins>
        <Value of={right ?? null} />
      </ins>
    </>
  );
}
