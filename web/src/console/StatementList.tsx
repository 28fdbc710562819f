import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { exactly, plural, when } from '../parts/format';
import { Button } from '../parts/Button';
import { ErrorNote } from '../parts/States';
import { addressOf, type Filters } from './filters';
import { Outcome } from './outcome';
import type { Listed } from './types';
import type { usePages } from './usePages';

const rowHeight = 58;

// StatementList shows statements, the newest first; arrow keys go through them.
export function StatementList({ pages, filters, open }: { pages: ReturnType<typeof usePages>; filters: Filters; open?: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [, navigate] = useLocation();
  const { rows } = pages;
  const v = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => rowHeight, overscan: 10 });
  const items = v.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 100) pages.more();
  }, [last, rows.length, pages.more]);

  const step = (by: number) => {
    const at = rows.findIndex((r) => r.audit_id === open);
    const to = Math.min(rows.length - 1, Math.max(0, at + by));
    if (rows[to]) {
      navigate(addressOf(filters, rows[to].audit_id));
      v.scrollToIndex(to);
    }
  };
  const none = rows.length === 0 && !pages.loading && !pages.error;
  return (
    <>
      {none && <p className="table-empty">No statement meets these filters.</p>}
      <div
        ref={box}
        className="statements"
        hidden={none}
        role="list"
        aria-label="Statements"
        aria-busy={pages.loading}
        tabIndex={0}
        onKeyDown={(e) => {
          if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
          e.preventDefault();
          step(e.key === 'ArrowDown' ? 1 : -1);
        }}
      >
        <div style={{ height: v.getTotalSize(), position: 'relative' }}>
          {items.map((i) => {
            const s = rows[i.index]!;
            return <Row key={s.audit_id} of={s} who={pages.people[s.person] ?? s.person} to={addressOf(filters, s.audit_id)} current={s.audit_id === open} top={i.start} at={i.index + 1} size={pages.next ? -1 : rows.length} />;
          })}
        </div>
      </div>
      <footer className="statements-foot" aria-live="polite">
        {pages.error ? (
          <ErrorNote error={pages.error} retry={pages.reload} />
        ) : (
          <>
            <span>
              {plural(rows.length, 'statement')}
              {pages.next ? ' so far' : ''}
              {pages.next && pages.looked ? `, looked back to ${exactly(pages.looked)}` : ''}
            </span>
            {pages.loading ? (
              <span className="spinner" role="status" aria-label="Loading" />
            ) : (
              <Button small kind="quiet" icon="again" onClick={pages.reload}>
                Newest
              </Button>
            )}
          </>
        )}
      </footer>
    </>
  );
}

interface RowProps {
  of: Listed;
  who: string;
  to: string;
  current: boolean;
  top: number;
  at: number;
  size: number;
}

// Row is one statement. It is drawn once: scrolling draws only those that come into sight.
const Row = memo(function Row({ of: s, who, to, current, top, at, size }: RowProps) {
  return (
    <div role="listitem" aria-setsize={size} aria-posinset={at} className="statement-row" style={{ height: rowHeight, transform: `translateY(${top}px)` }}>
      <Link href={to} aria-current={current || undefined}>
        <span className="statement-head">
          <Outcome of={s} />
          <span className="statement-who">{who}</span>
          <span className="quiet">{s.via}</span>
          <time dateTime={s.asked_at} title={exactly(s.asked_at)}>
            {when(s.asked_at)}
          </time>
        </span>
        <span className="statement-sql mono">{s.sql}</span>
      </Link>
    </div>
  );
});
