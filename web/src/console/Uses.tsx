import { Link } from 'wouter';
import { api } from '../api/client';
import { useResource } from '../api/useResource';
import { exactly, plural } from '../parts/format';
import type { Delivered, Statement, Use } from './types';

// Uses is what became of a statement's result: the turn that asked and its files, the runs that read their data by it, and their findings
// and reports.
export function Uses({ of: s }: { of: Statement }) {
  // Who may see the statement may not see the conversation; then its files stay unnamed.
  const files = useResource(s.conversation, (signal) => api.get<{ artifacts: Delivered[] }>(`/api/conversations/${encodeURIComponent(s.conversation!)}/artifacts`, signal));
  if (!s.turn && s.uses.length === 0) return null;
  const all = files.data?.artifacts ?? [];
  const hidden = files.error?.code === 'not_found';
  return (
    <section aria-label="Used by">
      <h3>Used by</h3>
      {s.turn && (
        <div className="use">
          <p>
            {s.conversation ? <Link href={`/chat/${encodeURIComponent(s.conversation)}`}>The turn that asked it</Link> : 'The turn that asked it'}, for its answer
          </p>
          <Files of={all.filter((f) => f.turn === s.turn && !f.run)} />
        </div>
      )}
      {s.uses.map((u) => (
        <Run key={u.run_id} of={u} reports={all.filter((f) => f.run === u.run_id)} />
      ))}
      {hidden && <small>Reports and files are shown to those who may read the conversation.</small>}
    </section>
  );
}

function Run({ of: u, reports }: { of: Use; reports: Delivered[] }) {
  const run = `/runs/${encodeURIComponent(u.run_id)}`;
  return (
    <div className="use">
      <p>
        <Link href={run}>Run of {exactly(u.created_at)}</Link>
        {u.guideline && `, guideline ${u.guideline}`}
        {u.purpose && `: ${u.purpose}`}
      </p>
      <Files of={reports} />
      {u.finding_count > 0 && (
        <details>
          <summary>{plural(u.finding_count, 'finding cites it', 'findings cite it')}</summary>
          <ul>
            {u.findings.map((f) => (
              <li key={f.id}>
                <Link href={`${run}/${encodeURIComponent(f.id)}`}>{f.id}</Link> {f.severity}, {f.rule_id}, submission {f.submission_id}: {f.message}
              </li>
            ))}
          </ul>
          {u.finding_count > u.findings.length && <small>The first {u.findings.length} are shown; the run has all.</small>}
        </details>
      )}
    </div>
  );
}

function Files({ of }: { of: Delivered[] }) {
  if (of.length === 0) return null;
  return (
    <ul>
      {of.map((f) => (
        <li key={f.id}>
          {f.run ? 'Report ' : 'File '}
          <a href={f.url} download={f.name}>
            {f.name}
          </a>{' '}
          of {exactly(f.created)}
        </li>
      ))}
    </ul>
  );
}
