import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, type ReactNode } from 'react';

export interface Column<T> {
  key: string;
  head: ReactNode;
  cell: (row: T) => ReactNode;
  width?: string; // a grid track: '8rem', '2fr'; default minmax(6rem, 1fr)
  right?: boolean; // numbers
}

interface Props<T> {
  label: string; // its name for screen readers
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  onOpen?: (row: T) => void; // a row can be opened with click or Enter
  empty?: ReactNode;
  height?: string; // of the scrolling box; default: as many rows as there are
  total?: number; // of rows, where more can be fetched
  onEnd?: () => void; // somebody scrolls to the last rows
}

const rowHeight = 34;
const plainUpTo = 200; // below that many rows, all are drawn

const nearEnd = (e: HTMLElement) => e.scrollTop + e.clientHeight > e.scrollHeight - 20 * rowHeight;

// Table shows rows; with many of them only those in sight are drawn.
export function Table<T>(p: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = p.rows.length > plainUpTo;
  const v = useVirtualizer({ count: virtual ? p.rows.length : 0, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 12 });
  const tracks = { gridTemplateColumns: p.columns.map((c) => c.width ?? 'minmax(6rem, 1fr)').join(' ') };
  const row = (r: T, index: number, top?: number) => (
    <div
      role="row"
      aria-rowindex={index + 2}
      key={p.rowKey(r)}
      className={`table-row${p.onOpen ? ' table-open' : ''}`}
      style={top === undefined ? tracks : { ...tracks, position: 'absolute', transform: `translateY(${top}px)`, height: rowHeight }}
      tabIndex={p.onOpen ? 0 : undefined}
      onClick={p.onOpen && (() => p.onOpen?.(r))}
      onKeyDown={p.onOpen && ((e) => e.key === 'Enter' && e.target === e.currentTarget && p.onOpen?.(r))}
    >
      {p.columns.map((c) => (
        <div role="cell" key={c.key} className={c.right ? 'right' : undefined}>
          {c.cell(r)}
        </div>
      ))}
    </div>
  );
  return (
    <div ref={box} className="table" role="table" aria-label={p.label} aria-rowcount={(p.total ?? p.rows.length) + 1} tabIndex={0} onScroll={p.onEnd && ((e) => nearEnd(e.currentTarget) && p.onEnd?.())} style={{ maxHeight: p.height ?? (virtual ? '70vh' : undefined) }}>
      <div role="rowgroup" className="table-head">
        <div role="row" className="table-row" aria-rowindex={1} style={tracks}>
          {p.columns.map((c) => (
            <div role="columnheader" key={c.key} className={c.right ? 'right' : undefined}>
              {c.head}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="table-body" style={virtual ? { height: v.getTotalSize() } : undefined}>
        {virtual ? v.getVirtualItems().map((i) => row(p.rows[i.index]!, i.index, i.start)) : p.rows.map((r, i) => row(r, i))}
      </div>
      {p.rows.length === 0 && <div className="table-empty">{p.empty ?? 'Nothing here.'}</div>}
    </div>
  );
}
