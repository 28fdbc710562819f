import type { ReactNode } from 'react';
import type { ApiError } from '../api/error';
import { Button } from './Button';
import { Icon } from './Icon';

// ErrorNote shows a failure with what to do about it.
export function ErrorNote({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div className="note note-error" role="alert">
      <Icon name="error" />
      <div>
        <p>
          <b>{sentence(error.message)}</b>
        </p>
        {error.hint && <p>{sentence(error.hint)}</p>}
        {error.requestId && <small>Request {error.requestId}</small>}
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

// Note says something beside the work: info, warn or good.
export function Note({ kind = 'info', children }: { kind?: 'info' | 'warn' | 'good'; children: ReactNode }) {
  return (
    <div className={`note note-${kind}`} role="status">
      <Icon name={kind === 'good' ? 'check' : 'warn'} />
      <div>{children}</div>
    </div>
  );
}

export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div className="loading" role="status">
      <span className="spinner" />
      <span>{what}…</span>
    </div>
  );
}

export function Empty({ title, text, children }: { title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {children}
    </div>
  );
}

// Badge is a word with a colour that means something.
export function Badge({ tone = 'plain', children }: { tone?: 'plain' | 'good' | 'warn' | 'bad' | 'info'; children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}

function sentence(text: string) {
  const t = text.trim();
  return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?]$/.test(t) ? '' : '.');
}
