import { charAt, wordEnd } from './place';

// Marked shows SQL as text, the place of a refusal marked.
export function Marked({ sql, position, label }: { sql: string; position?: number; label: string }) {
  const from = position ? charAt(sql, position) : sql.length;
  const to = position ? wordEnd(sql, from) : from;
  return (
    <pre className="sql" tabIndex={0} role="region" aria-label={label}>
      <code>
        {sql.slice(0, from)}
        {to > from && <mark>{sql.slice(from, to)}</mark>}
        {sql.slice(to)}
      </code>
    </pre>
  );
}
