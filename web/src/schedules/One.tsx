import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Page } from '../parts/Page';
import { ErrorNote, Loading, Note } from '../parts/States';
import { History } from './History';
import type { Run, Schedule } from './types';
import { inZone, kinds, sentence } from './words';

// One is a schedule: what it does, when it runs next, and what came of it.
export function One({ id }: { id: string }) {
  const { person } = useSession();
  const path = `/api/schedules/${encodeURIComponent(id)}`;
  const one = useResource(id, (signal) => api.get<Schedule>(path, signal));
  const runs = useResource(`${id}-runs`, (signal) => api.get<{ runs: Run[] }>(`${path}/runs?limit=50`, signal));
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [removing, setRemoving] = useState(false);
  const [, go] = useLocation();
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') runs.reload();
    }, 3000);
    return () => clearInterval(timer);
  }, [runs.reload]);

  const act = async (what: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
      one.reload();
      runs.reload();
    } catch (e) {
      setError(asApiError(e));
    }
    setBusy(false);
  };
  const s = one.data;
  if (one.error && !s) return <Page title="Schedule"><ErrorNote error={one.error} retry={one.reload} /></Page>;
  if (!s) return <Loading />;
  const stops = s.mine || person.role === 'admin';
  return (
    <Page
      title={s.name}
      actions={
        <>
          {s.mine && <Button kind="primary" icon="play" busy={busy} onClick={() => void act(() => api.post(`${path}/run`))}>Run now</Button>}
          {stops && !s.paused && <Button icon="pause" busy={busy} onClick={() => void act(() => api.patch(path, { paused: true }))}>Pause</Button>}
          {s.mine && s.paused && <Button icon="play" busy={busy} onClick={() => void act(() => api.patch(path, { paused: false }))}>Resume</Button>}
          {s.mine && <Link className="button" href={`/schedules/${s.id}/edit`}>Change</Link>}
          {stops && <Button kind="danger" onClick={() => setRemoving(true)}>Remove</Button>}
        </>
      }
    >
      {error && <ErrorNote error={error} />}
      {s.paused && <Note kind="warn">{s.paused_why ? `Paused: ${sentence(s.paused_why)}` : 'Paused. Nothing runs by the clock until it is resumed.'}</Note>}
      <section className="card schedule-card" aria-label="What it does">
        <p className="schedule-task">{s.task}</p>
        <dl className="schedule-facts">
          <dt>When</dt>
          <dd><code>{s.cron}</code> in {s.zone}</dd>
          {s.next.length > 0 && <dt>Next runs</dt>}
          {s.next.length > 0 && <dd><ol className="schedule-next" aria-label="Next runs">{s.next.map((t) => <li key={t}><time dateTime={t}>{inZone(t, s.zone)}</time></li>)}</ol></dd>}
          <dt>On behalf of</dt>
          <dd>{s.mine ? 'you' : s.person.name}, by the model {s.model}</dd>
          <dt>Policy</dt>
          <dd>{s.missed === 'run_once' ? 'a missed run is made up for once' : 'a missed run is skipped'}; {s.overlap === 'skip' ? 'no run begins while one is under way' : 'runs wait for each other'}</dd>
          <dt>Report to</dt>
          <dd>
            {s.deliver.length === 0 ? 'nobody: it stays in the history' : (
              <ul>{s.deliver.map((d) => <li key={d.kind + d.to}>{kinds[d.kind]} {d.to}{d.secret && <Secret value={d.secret} />}</li>)}</ul>
            )}
          </dd>
          <dt>Alerts to</dt>
          <dd>{s.alert.length === 0 ? 'the person whose schedule it is, by e-mail' : <ul>{s.alert.map((d) => <li key={d.kind + d.to}>{kinds[d.kind]} {d.to}</li>)}</ul>}</dd>
        </dl>
      </section>
      <h2>History</h2>
      {runs.error && <ErrorNote error={runs.error} retry={runs.reload} />}
      {runs.data && <History runs={runs.data.runs} zone={s.zone} retry={s.mine ? (d) => void act(() => api.post(`${path}/deliveries/${d.id}/retry`)) : undefined} />}
      {removing && (
        <Dialog title={`Remove “${s.name}”?`} onClose={() => setRemoving(false)}>
          <p>It runs no more. The conversations that it made stay.</p>
          <div className="form-row">
            <Button kind="danger" busy={busy} onClick={() => void act(async () => { await api.delete(path); go('/schedules'); })}>Remove</Button>
            <Button kind="quiet" onClick={() => setRemoving(false)}>Keep it</Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

// Secret is shown on demand: it signs what a receiver believes.
function Secret({ value }: { value: string }) {
  const [shown, setShown] = useState(false);
  return shown ? <code className="schedule-secret">{value}</code> : <Button small kind="quiet" onClick={() => setShown(true)}>Show the signing secret</Button>;
}
