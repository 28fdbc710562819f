import { useEffect, useRef, useState } from 'react';
import * as pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import workerURL from 'pdfjs-dist/legacy/build/pdf.worker.mjs?url';
import { request } from '../../api/client';
import { ApiError } from '../../api/error';
import { useResource } from '../../api/useResource';
import { IconButton } from '../../parts/Button';
import { ErrorNote, Loading } from '../../parts/States';
import type { ArtifactData } from '../types';
import './preview.css';

pdfjs.GlobalWorkerOptions.workerSrc = workerURL;

// Pdf shows the pages of a PDF one by one. Nothing in it runs, and links in it lead nowhere.
export default function Pdf({ file }: { file: ArtifactData }) {
  const [page, setPage] = useState(1);
  const [text, setText] = useState('');
  const canvas = useRef<HTMLCanvasElement>(null);
  const doc = useResource(file.url, async (signal) => {
    const data = await (await request(file.url, { signal })).arrayBuffer();
    const task = pdfjs.getDocument({ data, useWasm: false, enableXfa: false });
    try {
      return await task.promise;
    } catch (e) {
      const locked = e instanceof Error && e.name === 'PasswordException';
      throw new ApiError({
        status: 0,
        code: 'invalid',
        message: locked ? 'this PDF wants a password' : 'this PDF can’t be read',
        hint: 'download it and open it with a PDF program',
      });
    }
  });
  const pages = doc.data?.numPages ?? 0;
  useEffect(() => {
    if (!doc.data) return;
    let stopped = false;
    let drawing: pdfjs.RenderTask | undefined;
    const draw = async () => {
      const p = await doc.data!.getPage(page);
      if (stopped || !canvas.current) return;
      const scale = Math.min(2.2, (1600 * Math.min(devicePixelRatio, 1.5)) / p.getViewport({ scale: 1 }).width);
      const viewport = p.getViewport({ scale });
      canvas.current.width = viewport.width;
      canvas.current.height = viewport.height;
      drawing = p.render({ canvas: canvas.current, viewport });
      await drawing.promise;
      const content = await p.getTextContent();
      if (!stopped) setText(content.items.map((i) => ('str' in i ? i.str : '')).join(' '));
    };
    draw().catch(() => {}); // a page that was left
    return () => {
      stopped = true;
      drawing?.cancel();
    };
  }, [doc.data, page]);
  useEffect(() => () => void doc.data?.loadingTask.destroy(), [doc.data]);

  if (doc.error) return <ErrorNote error={doc.error} />;
  if (!doc.data) return <Loading what="Opening" />;
  return (
    <>
      <div className="preview-page" tabIndex={0} role="region" aria-label={`Page ${page}`}>
        <canvas ref={canvas} aria-hidden="true" />
        <p className="hidden">{text}</p>
      </div>
      <div className="preview-pages">
        <IconButton icon="chevron" className="flipped" label="Previous page" disabled={page <= 1} onClick={() => setPage(page - 1)} />
        <span role="status">
          Page {page} of {pages}
        </span>
        <IconButton icon="chevron" label="Next page" disabled={page >= pages} onClick={() => setPage(page + 1)} />
      </div>
    </>
  );
}
