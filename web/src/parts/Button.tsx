import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './Icon';

type Native = ButtonHTMLAttributes<HTMLButtonElement>;

// Button's kinds: primary (one a view), plain, quiet (no frame), danger.
export function Button({ kind = 'plain', icon, busy, small, children, ...rest }: Native & { kind?: 'primary' | 'plain' | 'quiet' | 'danger'; icon?: IconName; busy?: boolean; small?: boolean }) {
  return (
    <button type="button" {...rest} className={`button button-${kind}${small ? ' button-small' : ''} ${rest.className ?? ''}`} disabled={rest.disabled || busy} aria-busy={busy || undefined}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

// IconButton has no text: label is its name for screen readers and its tooltip.
export function IconButton({ icon, label, ...rest }: Native & { icon: IconName; label: string }) {
  return (
    <button type="button" {...rest} className={`icon-button ${rest.className ?? ''}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
