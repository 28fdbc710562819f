import { Link } from 'wouter';
import { Button } from '../parts/Button';
import { Badge, Empty } from '../parts/States';
import { bytes, exactly, plural } from '../parts/format';
import type { Delivery, Run } from './types';
import { alerts, inZone, kinds, sentence, StateBadge } from './words';

// History is what came of each tick, the newest first.
export function History({ runs, zone, retry }: { runs: Run[]; zone: string; retry?: (d: Delivery) => void }) {
  if (runs.length === 0) return <Empty title="It never ran" text="Its runs appear here with their files and deliveries." />;
  return (
    <ul className="schedule-history" aria-label="Runs">
      {runs.map((r) => (
        <li key={r.id} className="card" data-state={r.state}>
          <header>
            <StateBadge run={r} />
            <time dateTime={r.tick}>{inZone(r.tick, zone)}</time>
            <span className="quiet">{r.cause === 'person' ? 'run by hand' : 'by the clock'}</span>
            {r.found !== undefined && <span className="quiet">found {r.found}</span>}
            {r.conversation && <Link href={`/chat/${r.conversation}`}>Conversation</Link>}
          </header>
          {r.note && <p>{sentence(r.note)}</p>}
          {r.missed ? <p className="quiet">It stands for {plural(r.missed, 'earlier run')} that were missed.</p> : null}
          {r.alert && <p className="schedule-alert">{sentence(alerts[r.alert] ?? r.alert)}</p>}
          {r.artifacts && (
            <ul className="schedule-files" aria-label="Files">
              {r.artifacts.map((f) => <li key={f.id}><a href={f.url} download={f.name}>{f.name}</a> <small>{bytes(f.size)}</small></li>)}
            </ul>
          )}
          {r.deliveries && (
            <ul className="schedule-deliveries" aria-label="Deliveries">
              {r.deliveries.map((d) => <Line key={d.id} d={d} retry={retry} />)}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

const tones = { sent: 'good', due: 'info', sending: 'info', failed: 'bad' } as const;

function Line({ d, retry }: { d: Delivery; retry?: (d: Delivery) => void }) {
  const last = d.attempts.at(-1);
  const trouble = last && last.outcome !== 'accepted' && last.outcome !== 'started';
  return (
    <li>
      <Badge tone={trouble && d.state === 'due' ? 'warn' : tones[d.state]}>{d.state === 'due' && trouble ? 'tried again' : d.state}</Badge>{' '}
      {d.parcel === 'alert' ? 'Alert' : 'Report'} by {kinds[d.kind].toLowerCase()} to {d.to}
      {trouble && (
        <p className="field-error" role="alert">
          {sentence(last.message ?? last.outcome)} {last.hint && sentence(last.hint)}
          {d.next_try && <span className="quiet"> Next attempt {exactly(d.next_try)}.</span>}
        </p>
      )}
      {d.state === 'failed' && retry && <Button small icon="again" onClick={() => retry(d)}>Try again</Button>}
    </li>
  );
}
