import { useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Page } from '../parts/Page';
import { ErrorNote, Loading } from '../parts/States';
import { Destinations } from './Destinations';
import { Times } from './Times';
import type { Draft, Schedule, ScheduleList } from './types';
import { sentence } from './words';

const empty: Draft = {
  name: '', task: '', model: '', cron: '30 6 * * mon-fri', zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  missed: 'run_once', overlap: 'skip', deliver: [], alert: [],
};

// New makes a schedule.
export function New() {
  const choices = useChoices();
  if (choices.error) return <Page title="New schedule"><ErrorNote error={choices.error} retry={choices.reload} /></Page>;
  if (!choices.data) return <Loading />;
  return <Form title="New schedule" draft={{ ...empty, model: choices.data.models[0] ?? '' }} choices={choices.data} save={(d) => api.post<Schedule>('/api/schedules', d)} />;
}

// Edit changes one.
export function Edit({ id }: { id: string }) {
  const choices = useChoices();
  const one = useResource(id, (signal) => api.get<Schedule>(`/api/schedules/${encodeURIComponent(id)}`, signal));
  const error = one.error ?? choices.error;
  if (error) return <Page title="Schedule"><ErrorNote error={error} retry={one.reload} /></Page>;
  if (!choices.data || !one.data) return <Loading />;
  const { name, task, model, cron, zone, missed, overlap, deliver, alert } = one.data;
  return (
    <Form title="Change the schedule" choices={choices.data} draft={{ name, task, model, cron, zone, missed, overlap, deliver, alert }} save={(d) => api.patch<Schedule>(`/api/schedules/${encodeURIComponent(id)}`, d)} />
  );
}

const useChoices = () => useResource('choices', (signal) => api.get<ScheduleList>('/api/schedules', signal));

function Form({ title, draft: first, choices, save }: { title: string; draft: Draft; choices: ScheduleList; save: (d: Draft) => Promise<Schedule> }) {
  const [draft, setDraft] = useState(first);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [, go] = useLocation();
  const put = (some: Partial<Draft>) => setDraft({ ...draft, ...some });
  const at = (field: string) => (error?.field === field ? sentence(error.message) + (error.hint ? ' ' + sentence(error.hint) : '') : undefined);
  const known = ['name', 'task', 'model', 'missed', 'overlap', 'deliver', 'alert', 'cron', 'zone'];
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const bare = (all: Draft['deliver']) => all.filter((d) => d.to.trim() !== '').map(({ kind, to }) => ({ kind, to }));
      const saved = await save({ ...draft, deliver: bare(draft.deliver), alert: bare(draft.alert) });
      go(`/schedules/${saved.id}`);
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  return (
    <Page title={title}>
      <form className="form schedule-form" onSubmit={(e) => void submit(e)} noValidate>
        <Field label="Name" error={at('name')} hint="It heads each e-mail.">
          <input value={draft.name} maxLength={120} onChange={(e) => put({ name: e.target.value })} />
        </Field>
        <Field label="Task" error={at('task')} hint="What to do, as you would ask it in a chat. “Today” and “yesterday” mean the day of the run in its time zone.">
          <textarea rows={4} value={draft.task} onChange={(e) => put({ task: e.target.value })} placeholder="Reconcile yesterday’s submissions against carrier guidelines" />
        </Field>
        <Times cron={draft.cron} zone={draft.zone} onChange={put} />
        <div className="form-row">
          <Field label="Model" error={at('model')}>
            <select value={draft.model} onChange={(e) => put({ model: e.target.value })}>
              {choices.models.map((m) => <option key={m}>{m}</option>)}
            </select>
          </Field>
          <Field label="A run that was missed" error={at('missed')}>
            <select value={draft.missed} onChange={(e) => put({ missed: e.target.value as Draft['missed'] })}>
              <option value="run_once">runs once, late</option>
              <option value="skip">is skipped</option>
            </select>
          </Field>
          <Field label="While the run before it is under way" error={at('overlap')}>
            <select value={draft.overlap} onChange={(e) => put({ overlap: e.target.value as Draft['overlap'] })}>
              <option value="skip">a run is skipped</option>
              <option value="queue">a run waits</option>
            </select>
          </Field>
        </div>
        <Destinations legend="Send the report to" all={draft.deliver} kinds={choices.kinds} error={at('deliver')} onChange={(deliver) => put({ deliver })} />
        <Destinations legend="Send alerts to" note="When a run fails, is cut short, or finds nothing where it always found something. Without an entry, alerts go to your own e-mail address." all={draft.alert} kinds={choices.kinds} error={at('alert')} onChange={(alert) => put({ alert })} />
        {error && !known.includes(error.field ?? '') && <ErrorNote error={error} />}
        {(error?.field === 'cron' || error?.field === 'zone') && <ErrorNote error={error} />}
        <div className="form-row">
          <Button kind="primary" type="submit" busy={busy}>Save</Button>
          <Button kind="quiet" onClick={() => history.back()}>Cancel</Button>
        </div>
      </form>
    </Page>
  );
}
