import { useSyncExternalStore } from 'react';

// The statement being written stays while one looks at other pages of the console. It is kept in memory alone: it may hold values.
let draft = { sql: '', round: 0 };
const listeners = new Set<() => void>();

// setDraft replaces the text in the editor.
export function setDraft(sql: string) {
  draft = { sql, round: draft.round + 1 };
  for (const l of listeners) l();
}

// keepDraft remembers what was typed, which the editor shows already.
export const keepDraft = (sql: string) => {
  draft.sql = sql;
};

const subscribe = (l: () => void) => {
  listeners.add(l);
  return () => listeners.delete(l);
};

// useDraft is the text, and a number that changes when it was replaced from outside the editor.
export function useDraft() {
  return useSyncExternalStore(subscribe, () => draft);
}
