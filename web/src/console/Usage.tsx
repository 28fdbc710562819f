import { useSearchParams } from 'wouter';
import { Link } from 'wouter';
import { api, query } from '../api/client';
import { useResource } from '../api/useResource';
import { useSession } from '../api/session';
import { count } from '../parts/format';
import { Field } from '../parts/Field';
import { ErrorNote, Loading } from '../parts/States';
import { Table } from '../parts/Table';
import { addressOf } from './filters';
import type { UsageList } from './types';

const groupings = ['day', 'person', 'model', 'turn'] as const;

// Usage is what models used and cost, by day, person, model or turn.
export function Usage() {
  const [search, setSearch] = useSearchParams();
  const by = groupings.find((g) => g === search.get('by')) ?? 'day';
  const from = search.get('from') ?? '';
  const to = search.get('to') ?? '';
  const reader = useSession().person.role !== 'underwriter';
  const address = `/api/usage${query({ by, from, to, limit: 1000 })}`;
  const usage = useResource(address, (signal) => api.get<UsageList>(address, signal));
  const people = useResource(reader ? 'people' : undefined, (signal) => api.get<{ people: { id: string; name: string }[] }>('/api/console/people', signal));
  const name = (id: string) => people.data?.people.find((p) => p.id === id)?.name ?? id;
  const set = (key: string, value: string) =>
    setSearch((s) => {
      const next = new URLSearchParams(s);
      if (value) next.set(key, value);
      else next.delete(key);
      return next;
    });
  const groups = usage.data?.groups ?? [];
  const cost = groups.reduce((sum, g) => sum + g.usage.cost_micros, 0);
  return (
    <div className="page console-page">
      <div className="form-row">
        <Field label="By">
          <select value={by} onChange={(e) => set('by', e.target.value)}>
            {groupings.map((g) => (
              <option key={g}>{g}</option>
            ))}
          </select>
        </Field>
        <Field label="From">
          <input type="date" value={from} onChange={(e) => set('from', e.target.value)} />
        </Field>
        <Field label="Before">
          <input type="date" value={to} onChange={(e) => set('to', e.target.value)} />
        </Field>
      </div>
      {usage.error && <ErrorNote error={usage.error} retry={usage.reload} />}
      {usage.loading && !usage.data && <Loading />}
      {usage.data && (
        <>
          <p>
            {usage.data.all ? 'Of the organisation' : 'Your own'}: {dollars(cost)} in what is shown. Models without a price, such as the playbook, cost nothing.
          </p>
          <Table
            label={`Usage by ${by}`}
            rows={groups}
            rowKey={(g) => g.key}
            columns={[
              { key: 'key', head: by, width: 'minmax(10rem, 2fr)', cell: (g) => (by === 'person' ? name(g.key) : by === 'turn' ? <Link href={addressOf({ turn: g.key })}>{g.key}</Link> : g.key) },
              ...(by === 'turn' ? [{ key: 'person', head: 'person', cell: (g: (typeof groups)[number]) => name(g.person ?? '') }] : []),
              { key: 'turns', head: 'turns', right: true, cell: (g) => count(g.turns) },
              { key: 'attempts', head: 'model calls', right: true, cell: (g) => count(g.attempts) },
              { key: 'input', head: 'tokens read', right: true, cell: (g) => count(g.usage.input + g.usage.cache_read + g.usage.cache_write) },
              { key: 'output', head: 'tokens written', right: true, cell: (g) => count(g.usage.output) },
              { key: 'cost', head: 'cost', right: true, cell: (g) => dollars(g.usage.cost_micros) },
            ]}
            empty="Nothing was used in this time."
          />
        </>
      )}
    </div>
  );
}

const dollars = (micros: number) => `$${(micros / 1_000_000).toFixed(micros > 0 && micros < 10_000 ? 4 : 2)}`;
