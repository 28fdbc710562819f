import { plural } from '../parts/format';
import type { ToolPart } from './types';

type Values = Record<string, unknown>;

// summary says in a few words what a call does, or did.
export function summary(part: ToolPart): string {
  const input = (part.input ?? {}) as Values;
  const output = part.state === 'output-available' ? ((part.output ?? {}) as Values) : undefined;
  if (part.state === 'input-streaming') return 'is being written';
  const words = tools[part.toolName];
  const text = words ? words(input, output ?? {}, output !== undefined) : '';
  return part.state === 'output-error' ? `${text}${text ? ': ' : ''}${failure(part.errorText ?? '')}` : text;
}

const tools: Record<string, (input: Values, output: Values, done: boolean) => string> = {
  sql: (i, o, done) => `${oneLine(i.query)}${done ? ` → ${plural(num(o.row_count), 'row')}` : ''}`,
  describe_data: (i) => (i.relation ? `how ${oneLine(i.relation)} is made` : 'which data there is'),
  list_submissions: (i, o, done) => `${span(i)}${done ? ` → ${plural(num(o.total), 'submission')}` : ''}`,
  get_extraction: (i, o, done) => `${oneLine(i.submission_id ?? i.document_id ?? i.field_id)}${done ? ` → ${plural(num(o.total), 'field')}` : ''}`,
  decode_vins: (i) => plural(Array.isArray(i.vins) ? i.vins.length : 0, 'VIN'),
  reconcile: (i, o, done) => (done ? `${plural(num(o.submissions), 'submission')} → ${plural(num(o.finding_count), 'finding')}` : span(i)),
  publish_report: (i, o, done) => (done && Array.isArray(o.artifacts) ? (o.artifacts as Values[]).map((a) => String(a.name)).join(', ') : oneLine(i.title)),
  run: (i, o, done) => `${oneLine(i.script)}${done && o.exit_code ? ` → exit status ${String(o.exit_code)}` : ''}`,
  plan: (i) => plural(Array.isArray(i.steps) ? i.steps.length : 0, 'step'),
  read_file: (i) => oneLine(i.path),
  write_file: (i) => oneLine(i.path),
  list_files: (i) => oneLine(i.path ?? '/workspace'),
};

const num = (v: unknown) => (typeof v === 'number' ? v : 0);

function span(i: Values): string {
  const when = i.from ? (i.to && i.to !== i.from ? `${oneLine(i.from)} to ${oneLine(i.to)}` : oneLine(i.from)) : '';
  return [i.workflow && oneLine(i.workflow), i.insured && oneLine(i.insured), when].filter(Boolean).join(', ');
}

function oneLine(v: unknown): string {
  const text = String(v ?? '').replace(/\s+/g, ' ').trim();
  return text.length > 140 ? text.slice(0, 139) + '…' : text;
}

function failure(text: string): string {
  try {
    return oneLine((JSON.parse(text) as Values).message);
  } catch {
    return oneLine(text);
  }
}
