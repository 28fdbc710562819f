import type { ReactNode } from 'react';
import { api } from '../api/client';
import { useResource } from '../api/useResource';
import { bytes, count, seconds } from '../parts/format';
import { ErrorNote, Loading } from '../parts/States';
import { Marked } from './Marked';
import type { Policy, Spent } from './types';

const masks: Record<string, string> = {
  last4: 'the last four characters',
  'last4+token': 'the last four characters and a token that still joins',
  year: 'the year',
  'year+token': 'the year and a token that still joins',
  token: 'a token that still joins',
  null: 'nothing',
};

// PolicyPage is the policy as it applies to who reads it.
export function PolicyPage() {
  const { data: p, error, reload } = useResource('policy', (signal) => api.get<Policy>('/api/console/policy', signal));
  if (error) return <ErrorNote error={error} retry={reload} />;
  if (!p) return <Loading />;
  const rows = Object.entries(p.rows);
  const hidden = Object.entries(p.hidden);
  const masked = Object.entries(p.masked);
  return (
    <div className="page console-page policy" role="region" aria-label="Policy" tabIndex={0}>
      <Part title={`Role ${p.role}, masked as ${p.profile}`}>
        <p>
          You may read <span className="mono">{p.relations.join(', ')}</span>.
        </p>
      </Part>
      <Part title="Masked fields">
        {masked.length === 0 ? (
          <p>None: your role sees values as they came.</p>
        ) : (
          <ul>
            {masked.map(([field, mask]) => (
              <li key={field}>
                <code>{field}</code> leaves {masks[mask] ?? mask}
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="Hidden columns">
        {hidden.length === 0 ? (
          <p>None.</p>
        ) : (
          <ul>
            {hidden.map(([relation, columns]) => (
              <li key={relation}>
                <code>{relation}</code>: {columns.join(', ')}
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="Row filters">
        {rows.length === 0 ? (
          <p>None: you see every row of your organisation.</p>
        ) : (
          rows.map(([relation, sql]) => (
            <div key={relation}>
              <p>
                Of <code>{relation}</code>, rows with
              </p>
              <Marked sql={sql} label={`Row filter of ${relation}`} />
            </div>
          ))
        )}
      </Part>
      <Part title="Limits of one statement">
        <p>
          {count(p.limits.rows)} rows, {bytes(p.limits.bytes)} of results, {seconds(p.limits.seconds * 1000)}, {bytes(p.limits.memory)} of memory
        </p>
      </Part>
      <Part title="Budgets of a day">
        {p.budgets.map((b) => (
          <div key={b.of} className="budget">
            <h3>{b.of === 'person' ? 'Yours' : 'Your organisation’s'}</h3>
            <Meter label="Statements" of={b} key="queries" get={(s) => s.queries} write={count} />
            <Meter label="Run time" of={b} get={(s) => s.seconds} write={(n) => seconds(n * 1000)} />
            <Meter label="Result size" of={b} get={(s) => s.bytes} write={bytes} />
          </div>
        ))}
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Meter({ label, of, get, write }: { label: string; of: { have: Spent; used: Spent }; get: (s: Spent) => number; write: (n: number) => string }) {
  const left = Math.max(0, get(of.have) - get(of.used));
  return (
    <label className="meter">
      <span>{label}</span>
      <meter min={0} max={get(of.have)} value={get(of.used)} />
      <small>
        {write(left)} left of {write(get(of.have))}
      </small>
    </label>
  );
}
