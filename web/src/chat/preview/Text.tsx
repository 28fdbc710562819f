import { request } from '../../api/client';
import { useResource } from '../../api/useResource';
import { ErrorNote, Loading } from '../../parts/States';
import { bytes } from '../../parts/format';
import type { ArtifactData } from '../types';
import { Sheet } from './Sheet';
import { readCsv } from './csv';
import './preview.css';

const shown = 256 * 1024;

// Text shows the beginning of a text; of a CSV file, as a table.
export default function Text({ file }: { file: ArtifactData }) {
  const text = useResource(file.url, async (signal) => {
    const response = await request(file.url, { signal, headers: { Range: `bytes=0-${shown - 1}` } });
    return new TextDecoder().decode((await response.arrayBuffer()).slice(0, shown));
  });
  if (text.error) return <ErrorNote error={text.error} retry={text.reload} />;
  if (text.data === undefined) return <Loading what="Opening" />;
  const csv = /\.(csv|tsv)$/i.exec(file.name);
  return (
    <>
      {csv ? <Sheet rows={readCsv(text.data, csv[1]!.toLowerCase() === 'tsv' ? '\t' : ',')} label={file.name} /> : <pre className="preview-text" tabIndex={0}>{text.data}</pre>}
      {file.size > shown && <small>The first {bytes(shown)} of {bytes(file.size)}. Download it to see the rest.</small>}
    </>
  );
}
