import { strFromU8, unzipSync } from 'fflate';

export interface Book {
  sheets: { name: string; rows: (string | number)[][]; more: boolean; skipped?: string }[];
}

const maxRows = 1000; // shown of a sheet
const maxColumns = 200;
const maxPart = 96e6; // bytes of one part, unpacked
const maxSheets = 50;

// readWorkbook reads the beginning of each sheet of an Excel file: what a preview needs, and no more of a file that nobody
// trusts. Formulas show their stored result.
export function readWorkbook(file: Uint8Array): Book {
  const part = (name: string): string | undefined => {
    let large = false;
    const found = unzipSync(file, { filter: (f) => f.name === name && !(large = f.originalSize > maxPart) })[name];
    if (large) throw new TooLarge();
    return found && strFromU8(found);
  };
  const workbook = part('xl/workbook.xml');
  if (!workbook) throw new Error('this is no Excel workbook');
  const targets = new Map(elements(part('xl/_rels/workbook.xml.rels') ?? '', 'Relationship').map((e) => [attribute(e.head, 'Id'), attribute(e.head, 'Target') ?? '']));
  const strings = elements(part('xl/sharedStrings.xml') ?? '', 'si').map((e) => texts(e.body));
  const dates = dateStyles(part('xl/styles.xml') ?? '');
  const sheets = elements(workbook, 'sheet')
    .slice(0, maxSheets)
    .map((e) => {
      const name = unescape(attribute(e.head, 'name') ?? 'Sheet');
      const target = targets.get(attribute(e.head, 'r:id')) ?? '';
      try {
        const xml = part(target.startsWith('/') ? target.slice(1) : `xl/${target}`);
        if (xml === undefined) return { name, rows: [], more: false, skipped: 'This sheet holds no cells.' };
        return { name, ...readSheet(xml, strings, dates) };
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        return { name, rows: [], more: false, skipped: 'This sheet is too large to show here. Download the file to see it.' };
      }
    });
  return { sheets };
}

class TooLarge extends Error {
  override message = 'this workbook is too large to show here';
}

function readSheet(xml: string, strings: string[], dates: Set<number>) {
  const rows: (string | number)[][] = [];
  for (const row of each(xml, 'row')) {
    const n = Number(attribute(row.head, 'r') ?? rows.length + 1);
    if (n > maxRows) return { rows, more: true };
    while (rows.length < n - 1) rows.push([]);
    const cells: (string | number)[] = [];
    for (const c of each(row.body, 'c')) {
      const column = columnOf(attribute(c.head, 'r') ?? '') ?? cells.length;
      if (column >= maxColumns) break;
      while (cells.length < column) cells.push('');
      cells[column] = valueOf(c, strings, dates);
    }
    rows.push(cells);
  }
  return { rows, more: false };
}

function valueOf(c: Element, strings: string[], dates: Set<number>): string | number {
  const type = attribute(c.head, 't');
  if (type === 'inlineStr') return texts(c.body);
  const raw = elements(c.body, 'v')[0]?.body ?? '';
  if (raw === '') return '';
  switch (type) {
    case 's':
      return strings[Number(raw)] ?? '';
    case 'b':
      return raw === '1' ? 'TRUE' : 'FALSE';
    case 'str':
    case 'e':
    case 'd':
      return unescape(raw);
  }
  const n = Number(raw);
  return dates.has(Number(attribute(c.head, 's') ?? 0)) ? dateOf(n) : n;
}

// dateOf reads a day number of Excel's 1900 calendar.
function dateOf(n: number): string {
  const iso = new Date(Math.round((n - 25569) * 86_400_000));
  if (Number.isNaN(iso.getTime())) return String(n);
  const text = iso.toISOString();
  return Number.isInteger(n) ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
}

// dateStyles are the cell styles that show a number as a date.
function dateStyles(xml: string): Set<number> {
  const formats = new Map(elements(xml, 'numFmt').map((e) => [Number(attribute(e.head, 'numFmtId')), attribute(e.head, 'formatCode') ?? '']));
  const isDate = (id: number) => (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || /[ymdhs]/i.test((formats.get(id) ?? '').replace(/"[^"]*"|\[[^\]]*\]|\\./g, ''));
  const styles = elements(elements(xml, 'cellXfs')[0]?.body ?? '', 'xf');
  return new Set(styles.flatMap((e, i) => (isDate(Number(attribute(e.head, 'numFmtId') ?? 0)) ? [i] : [])));
}

interface Element {
  head: string; // the start tag's attributes
  body: string;
}

// each yields the elements of a name that don't hold each other, as spreadsheet parts have them, without building a tree.
function* each(xml: string, name: string): Generator<Element> {
  const start = new RegExp(`<(?:[a-z]\\w*:)?${name}(?=[\\s/>])([^>]*?)(/?)>`, 'g');
  const end = new RegExp(`</(?:[a-z]\\w*:)?${name}>`, 'g');
  for (let m = start.exec(xml); m; m = start.exec(xml)) {
    if (m[2]) {
      yield { head: m[1]!, body: '' };
      continue;
    }
    end.lastIndex = start.lastIndex;
    const close = end.exec(xml);
    if (!close) return;
    yield { head: m[1]!, body: xml.slice(start.lastIndex, close.index) };
    start.lastIndex = end.lastIndex;
  }
}

const elements = (xml: string, name: string) => [...each(xml, name)];

const texts = (xml: string) =>
  elements(xml.replace(/<rPh[\s\S]*?<\/rPh>/g, ''), 't')
    .map((e) => unescape(e.body))
    .join('');

function attribute(head: string, name: string): string | undefined {
  return new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(head)?.[1];
}

function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  return letters === undefined ? undefined : [...letters].reduce((n, l) => n * 26 + l.charCodeAt(0) - 64, 0) - 1;
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescape(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name) return entities[name] ?? whole;
    const code = hex ? parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
