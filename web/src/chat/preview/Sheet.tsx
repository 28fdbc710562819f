import { useMemo } from 'react';
import { Table } from '../../parts/Table';

// Sheet is a grid of cells as a spreadsheet shows it.
export function Sheet({ rows, label }: { rows: (string | number)[][]; label: string }) {
  const widths = useMemo(() => widthsOf(rows), [rows]);
  const numbered = useMemo(() => rows.map((cells, i) => ({ n: i + 1, cells })), [rows]);
  return (
    <Table
      label={label}
      height="65vh"
      rows={numbered}
      rowKey={(r) => String(r.n)}
      columns={[
        { key: '#', head: '', width: '3.2rem', right: true, cell: (r) => <span className="quiet">{r.n}</span> },
        ...widths.map((w, i) => ({
          key: String(i),
          head: column(i),
          width: `${w}ch`,
          cell: (r: { cells: (string | number)[] }) => <span title={String(r.cells[i] ?? '')}>{r.cells[i] ?? ''}</span>,
        })),
      ]}
    />
  );
}

function widthsOf(rows: (string | number)[][]): number[] {
  const widths: number[] = [];
  for (const row of rows.slice(0, 200)) row.forEach((cell, i) => (widths[i] = Math.min(46, Math.max(widths[i] ?? 8, String(cell ?? '').length + 2))));
  return Array.from(widths, (w) => w ?? 8);
}

// column names a column as spreadsheets do: A, B, …, Z, AA.
function column(i: number): string {
  return (i >= 26 ? column(Math.floor(i / 26) - 1) : '') + String.fromCharCode(65 + (i % 26));
}
