import { query } from '../api/client';

// The filters of the list, as they stand in the address.
export const filterNames = ['text', 'person', 'relation', 'column', 'decision', 'outcome', 'rule', 'via', 'from', 'to', 'min_ms', 'max_ms', 'turn', 'conversation'] as const;
export type FilterName = (typeof filterNames)[number];
export type Filters = Partial<Record<FilterName, string>>;

export const filterLabels: Record<FilterName, string> = {
  text: 'Text in the SQL',
  person: 'Person',
  relation: 'Relation',
  column: 'Column',
  decision: 'Decision',
  outcome: 'Outcome',
  rule: 'Rule',
  via: 'Asked through',
  from: 'From',
  to: 'Before',
  min_ms: 'At least ms',
  max_ms: 'At most ms',
  turn: 'Turn',
  conversation: 'Conversation',
};

export function filtersOf(search: URLSearchParams): Filters {
  const f: Filters = {};
  for (const name of filterNames) {
    const v = search.get(name);
    if (v) f[name] = v;
  }
  return f;
}

export const addressOf = (f: Filters, id?: string) => `/console/statements${id ? `/${encodeURIComponent(id)}` : ''}${query(f)}`;
