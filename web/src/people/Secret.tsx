import { useState, type ReactNode } from 'react';
import { Button } from '../parts/Button';
import { Field } from '../parts/Field';
import { Note } from '../parts/States';
import { exactly } from '../parts/format';

// Secret shows something once, to be copied.
export function Secret({ label, value, until, children }: { label: string; value: string; until?: string; children: ReactNode }) {
  const [copied, setCopied] = useState<boolean>();
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <div className="form">
      <Note kind="warn">
        {children} It is shown this once{until ? ` and good until ${exactly(until)}` : ''}.
      </Note>
      <Field label={label}>
        <input className="mono" readOnly value={value} onFocus={(e) => e.target.select()} />
      </Field>
      <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
      <span role="status" className="quiet">
        {copied === false && 'The browser doesn’t allow copying here; select the text instead.'}
      </span>
    </div>
  );
}
