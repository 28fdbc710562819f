import { cloneElement, useId, type InputHTMLAttributes, type ReactElement, type ReactNode } from 'react';

type Control = ReactElement<{ id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }>;

// Field ties a label, a hint and an error to one control: <Field label="Name"><input …/></Field>.
export function Field({ label, hint, error, children }: { label: string; hint?: ReactNode; error?: ReactNode; children: Control }) {
  const id = useId();
  const described = error || hint ? `${id}-note` : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, { id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {(error || hint) && (
        <small id={described} className={error ? 'field-error' : 'field-hint'} role={error ? 'alert' : undefined}>
          {error || hint}
        </small>
      )}
    </div>
  );
}

// Check is a labelled checkbox.
export function Check({ label, ...rest }: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode }) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}
