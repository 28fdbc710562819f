import { useEffect, useId, useRef, type ReactNode } from 'react';
import { IconButton } from './Button';

// Dialog is modal: focus stays inside and goes back where it was. Without onClose it can't be dismissed.
export function Dialog({ title, wide, onClose, children }: { title: string; wide?: boolean; onClose?: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const d = ref.current!;
    const before = document.activeElement;
    if (!d.open) d.showModal();
    d.querySelector<HTMLElement>('input:not([readonly], [type="hidden"])')?.focus(); // what is to be filled in, not what closes
    return () => {
      d.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={`dialog${wide ? ' dialog-wide' : ''}`}
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault();
        onClose?.();
      }}
      onMouseDown={(e) => {
        if (e.target === ref.current) onClose?.();
      }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          {onClose && <IconButton icon="close" label="Close" onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}
