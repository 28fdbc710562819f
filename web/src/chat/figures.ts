import type { ChatMessage, ToolPart } from './types';

// Figures maps a number, written plainly, to the audited statement that it came from.
export type Figures = Map<string, string>;

const maxFigures = 5000;

// auditIds are the audit records that a tool's result names.
export function auditIds(output: unknown): string[] {
  if (!output || typeof output !== 'object') return [];
  const o = output as { audit_id?: unknown; audit_ids?: unknown };
  const all = [o.audit_id, ...(Array.isArray(o.audit_ids) ? (o.audit_ids as unknown[]) : [])];
  return [...new Set(all.filter((x): x is string => typeof x === 'string' && /^[\w.:-]+$/.test(x)))];
}

// figuresOf finds the numbers in a message's tool results. A number that two statements gave leads to the later one, which is
// what the text after it speaks of.
export function figuresOf(message: ChatMessage): Figures {
  const found: Figures = new Map();
  for (const part of message.parts) {
    if (part.type !== 'dynamic-tool' || part.state !== 'output-available') continue;
    const ids = auditIds(part.output);
    for (const id of ids) found.set(id, id);
    if (ids[0]) collect(part.output, ids[0], found);
  }
  return found;
}

function collect(value: unknown, audit: string, into: Figures) {
  if (into.size >= maxFigures) return;
  if (typeof value === 'number') {
    if (telling(value)) for (const text of spellings(value)) into.set(text, audit);
  } else if (Array.isArray(value)) {
    for (const v of value) collect(v, audit, into);
  } else if (value && typeof value === 'object') {
    for (const v of Object.values(value)) collect(v, audit, into);
  }
}

// A small whole number may be anything; it would lead astray.
const telling = (n: number) => Number.isFinite(n) && (!Number.isInteger(n) || Math.abs(n) >= 10);

// spellings are the ways in which a text may round a number; a share is also a percentage.
function spellings(n: number): string[] {
  const all = new Set([String(n)]);
  if (!Number.isInteger(n)) {
    for (const digits of [1, 2, 3]) all.add(n.toFixed(digits));
    if (Math.abs(n) <= 1) for (const digits of [1, 2]) all.add(`${(n * 100).toFixed(digits)}%`);
  }
  return [...all].filter((t) => t.replace(/[^0-9]/g, '').replace(/^0+/, '').length >= 2);
}

interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

const number = /(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|(?<![\w.,-])\d+(?:\.\d+)?%?/g;
const untouched = new Set(['a', 'code', 'pre']);

// figures is a rehype plugin: each known number in the text becomes a link to its statement.
export function figures(known: Figures) {
  return (tree: Node) => walk(tree, known);
}

function walk(node: Node, known: Figures) {
  if (!node.children || untouched.has(node.tagName ?? '')) return;
  node.children = node.children.flatMap((child) => {
    const named = child.tagName === 'code' ? (child.children?.[0]?.value ?? '') : '';
    if (named && [...known.values()].includes(named)) return [leading(named, child)]; // an audit id that the text names
    if (child.type !== 'text') {
      walk(child, known);
      return [child];
    }
    return split(child.value ?? '', known);
  });
}

function split(text: string, known: Figures): Node[] {
  const out: Node[] = [];
  let from = 0;
  for (const match of text.matchAll(number)) {
    const plain = match[0].replaceAll(',', '');
    const audit = known.get(plain) ?? known.get(plain.replace('%', ''));
    if (!audit || /[\w]/.test(text[match.index + match[0].length] ?? '')) continue;
    out.push({ type: 'text', value: text.slice(from, match.index) });
    out.push(leading(audit, { type: 'text', value: match[0] }));
    from = match.index + match[0].length;
  }
  out.push({ type: 'text', value: text.slice(from) });
  return out;
}

const leading = (audit: string, what: Node): Node => ({
  type: 'element',
  tagName: 'a',
  properties: { href: `/console/statements/${audit}`, title: `From statement ${audit}` },
  children: [what],
});

export const isTool = (part: ChatMessage['parts'][number]): part is ToolPart => part.type === 'dynamic-tool';
