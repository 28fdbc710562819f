export type Kind = 'workbook' | 'pdf' | 'picture' | 'text' | 'other';

const ending = (name: string) => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';

// kindOf is how a file is shown. The ending and the type that the server found must both fit.
export function kindOf(name: string, mediaType: string): Kind {
  const e = ending(name);
  if (e === 'xlsx' || e === 'xlsm') return 'workbook';
  if (mediaType === 'application/pdf') return 'pdf';
  if (/^image\/(png|jpeg|gif|webp)$/.test(mediaType)) return 'picture';
  if (mediaType.startsWith('text/') || mediaType.includes('json') || ['csv', 'tsv', 'txt', 'md', 'json', 'log', 'py', 'sql'].includes(e)) return 'text';
  return 'other';
}

// What turns can open with the tools of their sandbox.
const readable = new Set(
  'pdf xlsx xlsm csv tsv txt md json jsonl xml html htm yaml yml log eml parquet png jpg jpeg gif webp tif tiff bmp docx pptx zip tar gz tgz py sql r'.split(' '),
);

// unreadable says why nobody can open a file, before it is sent.
export function unreadable(file: { name: string; size: number }): string | undefined {
  const e = ending(file.name);
  if (file.size === 0) return 'This file is empty.';
  if (!e) return 'Its name has no ending, so its type is unknown: it is kept, but may not be read.';
  if (!readable.has(e)) return `Nobody here can open .${e} files: it is kept and can be downloaded, but no question about what is in it can be answered. Save it as PDF, Excel or CSV.`;
  return undefined;
}
