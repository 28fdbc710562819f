import { useState } from 'react';
import { Link } from 'wouter';
import { Badge, ErrorNote } from '../parts/States';
import { Table, type Column } from '../parts/Table';
import { count, plural } from '../parts/format';
import { useFindings, type Finding, type Reconciled } from './useFindings';

const grades = ['critical', 'major', 'minor', 'note'];
const tone = (severity: string) => (({ critical: 'bad', major: 'warn', minor: 'info' }) as const)[severity] ?? 'plain';
const graver = (a: string, b: string) => (grades.indexOf(a) + 1 || 99) - (grades.indexOf(b) + 1 || 99) || a.localeCompare(b);

// isReconciled tells a reconciliation's answer from others.
export function isReconciled(o: unknown): o is Reconciled {
  return typeof o === 'object' && o !== null && Array.isArray((o as Reconciled).findings) && typeof (o as Reconciled).run_id === 'string';
}

const none = { severity: '', rule: '', outcome: '', q: '' };

// Findings is a run's findings with filters. The gravest are in the answer; the others come from the run as one scrolls or filters.
export function Findings({ run }: { run: Reconciled }) {
  const [filters, setFilters] = useState(none);
  const found = useFindings(run, filters);
  const set = (some: Partial<typeof none>) => setFilters({ ...filters, ...some });
  const all = `/runs/${encodeURIComponent(run.run_id)}`;
  if (run.finding_count === 0) return null;
  const severities = run.severities ?? tally(run.findings.map((f) => f.severity));
  const rules = run.rules ?? tally(run.findings.map((f) => f.rule_id));
  const filtered = found.total !== undefined && found.total < run.finding_count;
  return (
    <section className="findings card" aria-label="Findings">
      <header>
        <h3>{plural(run.finding_count, 'finding')}</h3>
        {Object.entries(severities)
          .sort(([a], [b]) => graver(a, b))
          .map(([name, n]) => (
            <Badge key={name} tone={tone(name)}>
              {count(n)} {name}
            </Badge>
          ))}
        <Link href={all} className="findings-all">
          Open the run
        </Link>
      </header>
      <div className="findings-filters" role="group" aria-label="Filters">
        <Pick label="Severity" value={filters.severity} set={(severity) => set({ severity })} of={Object.keys(severities).sort(graver)} />
        <Pick label="Rule" value={filters.rule} set={(rule) => set({ rule })} of={Object.keys(rules).sort()} />
        <select aria-label="Outcome" value={filters.outcome} onChange={(e) => set({ outcome: e.target.value })}>
          <option value="">Outcome: all</option>
          <option value="fail">does not hold</option>
          <option value="unknown">can’t be told</option>
          <option value="pass">superseded, as declared</option>
        </select>
        <input type="search" aria-label="Words in findings" placeholder="Words, submission" value={filters.q} onChange={(e) => set({ q: e.target.value })} />
      </div>
      <Table
        label="List of findings"
        columns={columns(all)}
        rows={found.rows}
        total={found.total}
        rowKey={(f) => f.id}
        height="22rem"
        onEnd={found.more}
        empty={found.error ? 'The other findings could not be fetched.' : found.loading ? 'Looking…' : 'No finding fits these filters.'}
      />
      {found.error && <ErrorNote error={found.error} retry={found.retry} />}
      <footer role="status">
        {found.total !== undefined && `${filtered ? `${count(found.total)} of ` : ''}${plural(run.finding_count, 'finding')}`}
        {found.loading && ' · fetching more…'}
      </footer>
    </section>
  );
}

const columns = (run: string): Column<Finding>[] => [
  { key: 'severity', head: 'Severity', width: '5rem', cell: (f) => <Badge tone={tone(f.severity)}>{f.severity}</Badge> },
  { key: 'submission', head: 'Submission', width: '8rem', cell: (f) => <span className="mono">{f.submission_id}</span> },
  {
    key: 'finding',
    head: 'Finding',
    width: 'minmax(18rem, 1fr)',
    cell: (f) => (
      <Link href={`${run}/${encodeURIComponent(f.id)}`} title={`${f.message}\nIts evidence: documents, pages, queries`}>
        {f.message}
        {f.outcome === 'unknown' && <small> (can’t be told)</small>}
      </Link>
    ),
  },
  {
    key: 'what',
    head: 'What',
    width: '9rem',
    cell: (f) => (
      <span title={`${f.entity} ${f.field ?? ''}`}>
        {f.entity} {f.field && <small>{f.field}</small>}
      </span>
    ),
  },
  { key: 'rule', head: 'Rule', width: '4.5rem', cell: (f) => <span className="mono">{f.rule_id}</span> },
];

function tally(all: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of all) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function Pick({ label, value, set, of }: { label: string; value: string; set: (v: string) => void; of: string[] }) {
  return (
    <select aria-label={label} value={value} onChange={(e) => set(e.target.value)}>
      <option value="">{label}: all</option>
      {of.map((o) => (
        <option key={o} value={o}>
          {o}
        </option>
      ))}
    </select>
  );
}
