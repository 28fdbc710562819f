import type { Change } from './types';

// Changes are the differences between two versions, a line each.
export function Changes({ changes }: { changes: Change[] }) {
  if (changes.length === 0) return <p>Nothing differs.</p>;
  return (
    <ul className="guideline-changes" aria-label="Changes">
      {changes.map((c, i) => (
        <li key={i}>
          <b>{c.what}</b>: {c.from && <del>{c.from}</del>} {c.to && <ins>{c.to}</ins>}
        </li>
      ))}
    </ul>
  );
}
