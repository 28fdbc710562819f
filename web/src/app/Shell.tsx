import { useEffect, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { signOut, useSession } from '../api/session';
import { IconButton } from '../parts/Button';
import { Icon } from '../parts/Icon';
import { faces } from './routes';
import { useTheme } from './theme';
import './shell.css';

// Shell is what stands around every page: navigation, who is signed in, the theme.
export function Shell({ children }: { children: ReactNode }) {
  const { person, organisation } = useSession();
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const [theme, nextTheme] = useTheme();
  const here = '/' + (location.split('/')[1] ?? '');
  useEffect(() => setOpen(false), [location]);

  const items = faces.flatMap((f) => (f.nav && (!f.nav.roles || f.nav.roles.includes(person.role)) ? [f.nav] : []));
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="shell-bar">
        <IconButton icon="menu" label={open ? 'Close navigation' : 'Open navigation'} aria-expanded={open} onClick={() => setOpen(!open)} />
        <span className="shell-brand">Bordereau</span>
      </header>
      <nav className="shell-nav" data-open={open} aria-label="Main">
        <div className="shell-mark">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          <span>
            <b>Bordereau</b>
            <small title={organisation.id}>{organisation.name}</small>
          </span>
        </div>
        <ul>
          {items.map((n) => (
            <li key={n.to}>
              <Link href={n.to} aria-current={here === n.to ? 'page' : undefined} title={n.label}>
                <Icon name={n.icon} />
                <span>{n.label}</span>
              </Link>
            </li>
          ))}
        </ul>
        <div className="shell-foot">
          <button type="button" className="shell-theme" onClick={nextTheme} title={`Theme: ${theme}`}>
            <Icon name={theme === 'dark' ? 'moon' : theme === 'light' ? 'sun' : 'contrast'} />
            <span>Theme: {theme}</span>
          </button>
          <div className="shell-person">
            <Link className="shell-who" href="/account" title="Your account" aria-current={here === '/account' ? 'page' : undefined}>
              <i aria-hidden="true">{(person.name || person.email).charAt(0).toUpperCase()}</i>
              <span>
                <b>{person.name || person.email}</b>
                <small>{person.role}</small>
              </span>
            </Link>
            <IconButton icon="exit" label="Sign out" onClick={() => void signOut()} />
          </div>
        </div>
      </nav>
      <main id="main" className="shell-main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
