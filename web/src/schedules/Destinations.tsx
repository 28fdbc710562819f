import { Button, IconButton } from '../parts/Button';
import type { Destination, Kind } from './types';
import { kinds as words } from './words';

const hints: Record<Kind, string> = { email: 'name@example.com', webhook: 'https://host/path', folder: 'daily-reports' };

// Destinations are where something is sent, one line each.
export function Destinations({ legend, note, all, kinds, error, onChange }: { legend: string; note?: string; all: Destination[]; kinds: Kind[]; error?: string; onChange: (all: Destination[]) => void }) {
  const set = (i: number, some: Partial<Destination>) => onChange(all.map((d, k) => (k === i ? { ...d, ...some } : d)));
  return (
    <fieldset className="schedule-to">
      <legend>{legend}</legend>
      {note && <small>{note}</small>}
      {all.map((d, i) => (
        <div className="form-row" key={i}>
          <select aria-label={`${legend}: kind ${i + 1}`} value={d.kind} onChange={(e) => set(i, { kind: e.target.value as Kind })}>
            {kinds.map((k) => <option key={k} value={k}>{words[k]}</option>)}
          </select>
          <input aria-label={`${legend}: address ${i + 1}`} aria-invalid={error ? true : undefined} value={d.to} placeholder={hints[d.kind]} onChange={(e) => set(i, { to: e.target.value })} />
          <IconButton icon="trash" label={`Remove line ${i + 1}`} onClick={() => onChange(all.filter((_, k) => k !== i))} />
        </div>
      ))}
      {error && <small className="field-error" role="alert">{error}</small>}
      <div>
        <Button small icon="plus" onClick={() => onChange([...all, { kind: kinds[0] ?? 'folder', to: '' }])}>Add</Button>
      </div>
    </fieldset>
  );
}
