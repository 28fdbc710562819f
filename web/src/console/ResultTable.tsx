import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useMemo, useRef, useState, type CSSProperties } from 'react';
import { Dialog } from '../parts/Dialog';
import type { Cell, ResultColumn } from './types';

const rowHeight = 28;
const numeric = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL|DOUBLE|FLOAT)/;

// ResultTable shows rows of any number; only those in sight are drawn. Values are text and stay text.
export function ResultTable({ columns, rows, label }: { columns: ResultColumn[]; rows: Cell[][]; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<number>();
  const v = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 8 });
  const items = v.getVirtualItems();
  // A row that comes into sight takes the elements of one that left: making them anew is most of what scrolling costs.
  const slots = useRef(1);
  slots.current = Math.max(slots.current, items.length);
  const sample = rows.length > 0;
  const layout = useMemo(() => {
    // In pixels: head and rows have other fonts, whose ch differ.
    const tracks = columns.map((c, i) => {
      let width = c.name.length + c.type.length + 2;
      for (const r of rows.slice(0, 50)) width = Math.max(width, r[i]?.length ?? 4);
      return Math.min(300, 16 + 8 * width);
    });
    // With its width said, the browser lays out a row without looking at the others or at how long its texts are.
    return { gridTemplateColumns: [72, ...tracks].map((t) => `${t}px`).join(' '), width: tracks.reduce((sum, t) => sum + t, 72) };
  }, [columns, sample]);
  const right = useMemo(() => columns.map((c) => numeric.test(c.type)), [columns]);
  return (
    <>
      <div ref={box} className="result" role="table" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={columns.length + 1} tabIndex={0}>
        <div role="rowgroup" className="result-head">
          <div role="row" aria-rowindex={1} className="result-row" style={layout}>
            <div role="columnheader" className="result-number">
              <span className="hidden">Row</span>
            </div>
            {columns.map((c, i) => (
              <div role="columnheader" key={i} className={right[i] ? 'right' : undefined} title={`${c.name} ${c.type}`}>
                {c.name} <small>{c.type.toLowerCase()}</small>
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: v.getTotalSize(), position: 'relative' }}>
          {items.map((i) => (
            <Line key={i.index % slots.current} index={i.index} top={i.start} cells={rows[i.index]!} right={right} layout={layout} onOpen={setOpen} />
          ))}
        </div>
      </div>
      {open !== undefined && rows[open] && (
        <Dialog title={`Row ${open + 1}`} wide onClose={() => setOpen(undefined)}>
          <dl className="facts facts-wide">
            {columns.map((c, i) => (
              <div key={i}>
                <dt>
                  {c.name} <small>{c.type.toLowerCase()}</small>
                </dt>
                <dd className="whole">
                  <Value of={rows[open]![i]!} />
                </dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}

interface LineProps {
  index: number;
  top: number;
  cells: Cell[];
  right: boolean[];
  layout: CSSProperties;
  onOpen: (index: number) => void;
}

// Line is one row. Scrolling draws only the rows that come into sight.
const Line = memo(function Line({ index, top, cells, right, layout, onOpen }: LineProps) {
  return (
    <div role="row" aria-rowindex={index + 2} className="result-row result-line" style={{ ...layout, height: rowHeight, transform: `translateY(${top}px)` }} onDoubleClick={() => onOpen(index)}>
      <div role="rowheader" className="result-number">
        <button type="button" onClick={() => onOpen(index)} aria-label={`Show row ${index + 1}`}>
          {index + 1}
        </button>
      </div>
      {cells.map((cell, c) => (
        <div role="cell" key={c} className={right[c] ? 'right' : undefined}>
          <Value of={cell} />
        </div>
      ))}
    </div>
  );
});

// Value tells NULL from the empty text, which both look like nothing.
export function Value({ of }: { of: Cell }) {
  if (of === null) return <span className="null">NULL</span>;
  if (of === '') return <span className="null" title="empty text">“”</span>;
  return <>{of}</>;
}
