import { lazy, Suspense, useState } from 'react';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Icon, type IconName } from '../parts/Icon';
import { Boundary } from '../parts/Boundary';
import { Loading } from '../parts/States';
import { bytes } from '../parts/format';
import { kindOf, type Kind } from './fileKind';
import type { ArtifactData } from './types';

const previews = {
  workbook: lazy(() => import('./preview/Workbook')),
  pdf: lazy(() => import('./preview/Pdf')),
  picture: lazy(() => import('./preview/Picture')),
  text: lazy(() => import('./preview/Text')),
};

const icons: Record<Kind, IconName> = { workbook: 'sheet', pdf: 'file', picture: 'picture', text: 'file', other: 'file' };

// Artifacts are the files that a turn delivered.
export function Artifacts({ files }: { files: ArtifactData[] }) {
  return (
    <ul className="artifacts" aria-label="Files">
      {files.map((f) => (
        <li key={f.id}>
          <Card file={f} />
        </li>
      ))}
    </ul>
  );
}

function Card({ file }: { file: ArtifactData }) {
  const [open, setOpen] = useState(false);
  const kind = kindOf(file.name, file.mediaType);
  const Preview = kind === 'other' ? undefined : previews[kind];
  return (
    <div className="artifact card">
      {kind === 'picture' ? (
        <button type="button" className="artifact-thumb" onClick={() => setOpen(true)} aria-label={`Show ${file.name}`}>
          <img src={`${file.url}?inline=true`} alt="" loading="lazy" />
        </button>
      ) : (
        <span className={`artifact-icon artifact-${kind}`}>
          <Icon name={icons[kind]} size={22} />
        </span>
      )}
      <div className="artifact-what">
        <b title={file.name}>{file.name}</b>
        <small>
          {bytes(file.size)}
          {!Preview && ', no preview for this type'}
        </small>
      </div>
      <div className="artifact-do">
        {Preview && (
          <Button small onClick={() => setOpen(true)} aria-label={`Preview ${file.name}`}>
            Preview
          </Button>
        )}
        <a className="button button-small" href={file.url} download={file.name} aria-label={`Download ${file.name}`}>
          <Icon name="down" size={15} />
          Download
        </a>
      </div>
      {open && Preview && (
        <Dialog title={file.name} wide onClose={() => setOpen(false)}>
          <Boundary>
            <Suspense fallback={<Loading what="Opening" />}>
              <Preview file={file} />
            </Suspense>
          </Boundary>
        </Dialog>
      )}
    </div>
  );
}
