import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { PostgreSQL, keywordCompletionSource, type SQLNamespace } from '@codemirror/lang-sql';
import type { Schema } from './types';

// namespace is what the role can name, as the SQL mode completes it after FROM and after a relation's name or alias.
export function namespace(schema: Schema): SQLNamespace {
  const out: Record<string, SQLNamespace> = {};
  for (const r of schema.relations) {
    out[r.name] = {
      self: { label: r.name, type: 'class', detail: r.filtered ? 'some rows' : 'relation', info: r.meaning },
      children: r.columns.map((c) => ({ label: c.name, type: 'property', detail: masked(c.type, c.mask), info: c.meaning })),
    };
  }
  return out;
}

const masked = (type: string, mask?: string) => (mask ? `${type}, masked: ${mask}` : type);

// names completes columns of the relations that the statement names, and functions.
export function names(schema: Schema) {
  const functions: Completion[] = schema.functions.map((f) => ({ label: f, type: 'function', apply: `${f}(`, boost: -1 }));
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w.]*/);
    if (!word || word.text.includes('.') || (word.from === word.to && !context.explicit)) return null;
    const text = context.state.doc.toString().toLowerCase();
    const columns = new Map<string, Completion>();
    for (const r of schema.relations) {
      if (!new RegExp(`\\b${r.name}\\b`).test(text)) continue;
      for (const c of r.columns) {
        columns.set(c.name, { label: c.name, type: 'property', detail: `${r.name}, ${masked(c.type, c.mask)}`, info: c.meaning, boost: 2 });
      }
    }
    return { from: word.from, options: [...columns.values(), ...functions], validFor: /^\w*$/ };
  };
}

export const keywords = keywordCompletionSource(PostgreSQL, true);
