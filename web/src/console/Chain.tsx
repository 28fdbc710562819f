import { useEffect, useRef, useState } from 'react';
import { asApiError, type ApiError } from '../api/error';
import { count } from '../parts/format';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { ErrorNote } from '../parts/States';
import { Verdict, type Chained } from '../parts/Verdict';
import { isObject, postLines } from './stream';

interface State {
  progress?: { checked: number; of: number };
  verdict?: Chained;
  error?: ApiError;
  busy?: boolean;
}

// Chain proves that no record of the organisation was changed, dropped or put elsewhere.
export function Chain() {
  const [anchor, setAnchor] = useState('');
  const [state, setState] = useState<State>({});
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const verify = async () => {
    stop.current?.abort();
    const own = new AbortController();
    stop.current = own;
    setState({ busy: true });
    try {
      for await (const batch of postLines('/api/console/verify', { anchor: anchor.trim() }, own.signal)) {
        for (const line of batch) {
          if (!isObject(line)) continue;
          if (isObject(line.progress)) setState({ busy: true, progress: line.progress as unknown as State['progress'] });
          if (isObject(line.verdict)) setState({ verdict: line.verdict as unknown as Chained });
        }
      }
    } catch (e) {
      if (!own.signal.aborted) setState({ error: asApiError(e) });
    }
  };
  return (
    <div className="page console-page">
      <p>
        Every statement has two entries, one when it was asked and one with its outcome. Each entry carries the hash of the one before it, so an entry that was changed, dropped or put elsewhere shows. The
        command line does the same: <code>bordereau audit verify</code>.
      </p>
      <form
        className="form-row"
        onSubmit={(e) => {
          e.preventDefault();
          void verify();
        }}
      >
        <Field label="Hash kept from an earlier verification (optional)" hint="With it, a chain that was written anew as a whole shows too.">
          <input className="mono anchor" value={anchor} onChange={(e) => setAnchor(e.target.value)} spellCheck={false} />
        </Field>
        <Button kind="primary" type="submit" busy={state.busy}>
          Verify the chain
        </Button>
      </form>
      {state.busy && (
        <div role="status">
          <progress max={state.progress?.of || 1} value={state.progress?.checked ?? 0} aria-label="Entries checked" />
          <small> {state.progress ? `${count(state.progress.checked)} of ${count(state.progress.of)} entries` : 'Reading the chain…'}</small>
        </div>
      )}
      {state.error && <ErrorNote error={state.error} />}
      {state.verdict && <Verdict of={state.verdict} />}
    </div>
  );
}
