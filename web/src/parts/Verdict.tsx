import { plural } from './format';
import { Note } from './States';

// Chained is what the server says of a record whose entries are chained by their hashes.
export interface Chained {
  holds: boolean;
  entries: number;
  hash?: string;
  seq?: number;
  why?: string;
}

// Verdict says whether a chain holds, or where it doesn't.
export function Verdict({ of }: { of: Chained }) {
  if (of.holds) {
    return (
      <Note kind="good">
        <p>
          <b>The chain holds: {plural(of.entries, 'entry', 'entries')}.</b>
        </p>
        {of.hash && (
          <p>
            Hash of the last entry, to be kept elsewhere: <code className="hash">{of.hash}</code>
          </p>
        )}
      </Note>
    );
  }
  return (
    <div className="note note-error" role="alert">
      <div>
        <p>
          <b>
            The chain does not hold: entry {of.seq} {of.why}.
          </b>
        </p>
        <p>{plural(of.entries, 'entry before it holds', 'entries before it hold')}. Keep the database as it is and ask who wrote to it beside the program.</p>
      </div>
    </div>
  );
}
