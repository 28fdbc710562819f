import { useSearchParams } from 'wouter';
import { api } from '../api/client';
import { useResource } from '../api/useResource';
import { FilterForm } from './FilterForm';
import { filtersOf } from './filters';
import { RunSQL } from './RunSQL';
import { StatementList } from './StatementList';
import { StatementView } from './StatementView';
import type { Schema } from './types';
import { usePages } from './usePages';

// Workspace is three panes: what was asked, one statement, and SQL of one's own. On a narrow page one of them is seen.
export function Workspace({ at, id }: { at: 'list' | 'statement' | 'sql'; id?: string }) {
  const [search] = useSearchParams();
  const filters = filtersOf(search);
  const pages = usePages(filters);
  const schema = useResource('schema', (signal) => api.get<Schema>('/api/console/schema', signal));
  return (
    <div className="workspace" data-at={at} data-open={id !== undefined}>
      <section className="pane pane-list" aria-label="Statements">
        <FilterForm filters={filters} schema={schema.data} />
        <StatementList pages={pages} filters={filters} open={id} />
      </section>
      {id !== undefined && (
        <section className="pane pane-statement" aria-label="One statement">
          <StatementView key={id} id={id} />
        </section>
      )}
      <section className="pane pane-sql" aria-label="Run SQL">
        <RunSQL schema={schema.data} onRan={pages.refresh} />
      </section>
    </div>
  );
}
