import { useEffect, useState } from 'react';
import { api } from '../api/client';
import { asApiError } from '../api/error';
import { Field } from '../parts/Field';
import type { Preview } from './types';
import { inZone, sentence } from './words';

const zones = Intl.supportedValuesOf('timeZone');

// Times is a cron line with its zone, and what the two come to while they are typed.
export function Times({ cron, zone, onChange }: { cron: string; zone: string; onChange: (some: { cron?: string; zone?: string }) => void }) {
  const [preview, setPreview] = useState<Preview>({ next: [] });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.post<Preview>('/api/schedules/preview', { cron, zone }, stop.signal).then(setPreview, (e: unknown) => {
        if (!stop.signal.aborted) setPreview({ next: [], field: 'cron', problem: asApiError(e).message });
      });
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [cron, zone]);
  const wrong = (field: string) => (preview.field === field && preview.problem ? sentence(preview.problem) + (preview.hint ? ' ' + sentence(preview.hint) : '') : undefined);
  return (
    <fieldset className="schedule-times">
      <legend>When</legend>
      <div className="form-row">
        <Field label="Cron line" error={wrong('cron')} hint="minute, hour, day of the month, month, day of the week">
          <input className="mono" value={cron} spellCheck={false} autoComplete="off" onChange={(e) => onChange({ cron: e.target.value })} />
        </Field>
        <Field label="Time zone" error={wrong('zone')}>
          <input list="schedule-zones" value={zone} spellCheck={false} autoComplete="off" onChange={(e) => onChange({ zone: e.target.value })} />
        </Field>
        <datalist id="schedule-zones">
          {zones.map((z) => <option key={z} value={z} />)}
          <option value="UTC" />
        </datalist>
      </div>
      <div aria-live="polite">
        {preview.next.length > 0 && (
          <>
            <h3>Next runs</h3>
            <ol className="schedule-next" aria-label="Next runs">
              {preview.next.map((t) => <li key={t}><time dateTime={t}>{inZone(t, zone)}</time></li>)}
            </ol>
          </>
        )}
      </div>
    </fieldset>
  );
}
