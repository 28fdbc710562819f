import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { Badge } from '../parts/States';
import { count, plural } from '../parts/format';

interface Finding {
  id: string;
  submission_id: string;
  rule_id: string;
  severity: string;
  action?: string;
  outcome: string;
  entity: string;
  field?: string;
  message: string;
}

export interface Reconciled {
  run_id: string;
  submissions: number;
  finding_count: number;
  severities?: Record<string, number>;
  findings: Finding[];
}

const grades = ['critical', 'major', 'minor', 'note'];
const tone = (severity: string) => (({ critical: 'bad', major: 'warn', minor: 'info' }) as const)[severity] ?? 'plain';
const cmp = (a: string, b: string) => (grades.indexOf(a) + 1 || 99) - (grades.indexOf(b) + 1 || 99) || a.localeCompare(b);

// isReconciled tells a reconciliation's answer from others.
export function isReconciled(o: unknown): o is Reconciled {
  return typeof o === 'object' && o !== null && Array.isArray((o as Reconciled).findings) && typeof (o as Reconciled).run_id === 'string';
}

// Findings is a run's findings as the answer has them: the first ones, with the way to the rest.
export function Findings({ run }: { run: Reconciled }) {
  const [severity, setSeverity] = useState('');
  const [submission, setSubmission] = useState('');
  const [rule, setRule] = useState('');
  const [text, setText] = useState('');
  const shown = useMemo(() => {
    const words = text.toLowerCase();
    return run.findings.filter(
      (f) =>
        (!severity || f.severity === severity) &&
        (!submission || f.submission_id === submission) &&
        (!rule || f.rule_id === rule) &&
        (!words || `${f.message} ${f.entity} ${f.field ?? ''} ${f.id}`.toLowerCase().includes(words)),
    );
  }, [run.findings, severity, submission, rule, text]);
  const all = `/runs/${encodeURIComponent(run.run_id)}`;
  if (run.finding_count === 0) return null;
  return (
    <section className="findings card" aria-label="Findings">
      <header>
        <h3>{plural(run.finding_count, 'finding')}</h3>
        {Object.entries(run.severities ?? {})
          .sort(([a], [b]) => cmp(a, b))
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
        <Pick label="Severity" value={severity} set={setSeverity} of={run.findings.map((f) => f.severity)} sort={cmp} />
        <Pick label="Submission" value={submission} set={setSubmission} of={run.findings.map((f) => f.submission_id)} />
        <Pick label="Rule" value={rule} set={setRule} of={run.findings.map((f) => f.rule_id)} />
        <input type="search" aria-label="Words in findings" placeholder="Words" value={text} onChange={(e) => setText(e.target.value)} />
      </div>
      <div className="findings-box" tabIndex={0} role="region" aria-label="List of findings">
        <table>
          <thead>
            <tr>
              <th scope="col">Severity</th>
              <th scope="col">Submission</th>
              <th scope="col">What</th>
              <th scope="col">Finding</th>
              <th scope="col">Rule</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((f) => (
              <tr key={f.id}>
                <td>
                  <Badge tone={tone(f.severity)}>{f.severity}</Badge>
                </td>
                <td className="mono">{f.submission_id}</td>
                <td>
                  {f.entity}
                  {f.field && <small> {f.field}</small>}
                </td>
                <td>
                  <Link href={`${all}?finding=${encodeURIComponent(f.id)}`} title="Its evidence: documents, pages, queries">
                    {f.message}
                  </Link>
                  {f.outcome === 'unknown' && <small> (can’t be told)</small>}
                </td>
                <td className="mono">{f.rule_id}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className="quiet findings-none">No finding fits these filters.</p>}
      </div>
      <footer role="status">
        {shown.length === run.findings.length ? '' : `${count(shown.length)} of `}
        {run.findings.length < run.finding_count ? `the first ${count(run.findings.length)}; ` : plural(run.findings.length, 'finding')}
        {run.findings.length < run.finding_count && <Link href={all}>all {count(run.finding_count)} are in the run</Link>}
      </footer>
    </section>
  );
}

function Pick({ label, value, set, of, sort }: { label: string; value: string; set: (v: string) => void; of: string[]; sort?: (a: string, b: string) => number }) {
  const options = [...new Set(of)].sort(sort);
  return (
    <select aria-label={label} value={value} onChange={(e) => set(e.target.value)}>
      <option value="">{label}: all</option>
      {options.map((o) => (
        <option key={o} value={o}>
          {o}
        </option>
      ))}
    </select>
  );
}
