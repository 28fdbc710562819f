import { useState } from 'react';
import { request } from '../../api/client';
import { ApiError } from '../../api/error';
import { useResource } from '../../api/useResource';
import { ErrorNote, Loading, Note } from '../../parts/States';
import { bytes, count } from '../../parts/format';
import type { ArtifactData } from '../types';
import { Sheet } from './Sheet';
import type { Book } from './xlsx';
import './preview.css';

const largest = 40e6;

// Workbook shows the sheets of an Excel file. A worker reads it, so that neither its size nor its faults hold up the page.
export default function Workbook({ file }: { file: ArtifactData }) {
  const [at, setAt] = useState(0);
  const book = useResource(file.url, async (signal) => {
    if (file.size > largest) throw refused(`this workbook has ${bytes(file.size)}, too much to show here`);
    const content = await (await request(file.url, { signal })).arrayBuffer();
    return read(content, signal);
  });
  if (book.error) return <ErrorNote error={book.error} />;
  if (!book.data) return <Loading what="Opening" />;
  const sheet = book.data.sheets[at];
  return (
    <>
      <div className="preview-tabs" role="tablist" aria-label="Sheets">
        {book.data.sheets.map((s, i) => (
          <button key={s.name} type="button" role="tab" aria-selected={i === at} className="button button-small" onClick={() => setAt(i)}>
            {s.name}
          </button>
        ))}
      </div>
      {sheet && (sheet.skipped ? <Note kind="warn">{sheet.skipped}</Note> : <Sheet rows={sheet.rows} label={sheet.name} />)}
      {sheet?.more && <small>The first {count(sheet.rows.length)} rows. Download the file to see the rest.</small>}
    </>
  );
}

const refused = (message: string) => new ApiError({ status: 0, code: 'invalid', message, hint: 'download it and open it with a spreadsheet program' });

function read(content: ArrayBuffer, signal: AbortSignal): Promise<Book> {
  const worker = new Worker(new URL('./xlsx.worker.ts', import.meta.url), { type: 'module' });
  return new Promise<Book>((resolve, reject) => {
    worker.onmessage = (e: MessageEvent<{ book?: Book; error?: string }>) => (e.data.book ? resolve(e.data.book) : reject(refused(e.data.error ?? 'this workbook can’t be read')));
    worker.onerror = () => reject(refused('this workbook can’t be read'));
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    worker.postMessage(content, [content]);
  }).finally(() => worker.terminate());
}
