import type { ArtifactData } from '../types';
import './preview.css';

export default function Picture({ file }: { file: ArtifactData }) {
  return <img className="preview-picture" src={`${file.url}?inline=true`} alt={file.name} />;
}
