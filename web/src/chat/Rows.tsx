import { count } from '../parts/format';

interface Answer {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  row_count?: number;
  truncated?: boolean;
  note?: string;
}

// Rows is a query's result as it was answered: a preview when it says so.
export function Rows({ answer }: { answer: Answer }) {
  return (
    <figure className="block">
      <figcaption>
        Result: {count(answer.row_count ?? answer.rows.length)} {answer.row_count === 1 ? 'row' : 'rows'}
        {answer.truncated && `, the first ${count(answer.rows.length)} shown`}
        {answer.note && ` — ${answer.note}`}
      </figcaption>
      <div className="rows" tabIndex={0} role="region" aria-label="Result">
        <table>
          <thead>
            <tr>
              {answer.columns.map((c, i) => (
                <th key={i} title={c.type} scope="col">
                  {c.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {answer.rows.slice(0, 100).map((row, i) => (
              <tr key={i}>
                {row.map((cell, j) => (
                  <td key={j} className={typeof cell === 'number' ? 'right' : undefined}>
                    {cell === null ? <i className="quiet">null</i> : typeof cell === 'object' ? JSON.stringify(cell) : String(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
