import { Link, Redirect, useLocation } from 'wouter';
import { useSession, type Role } from '../api/session';
import { Empty } from '../parts/States';
import { Chain } from './Chain';
import { Compare } from './Compare';
import { PolicyPage } from './PolicyPage';
import { Usage } from './Usage';
import { Workspace } from './Workspace';
import './console.css';

const readers: Role[] = ['analyst', 'auditor', 'admin'];

const tabs: { to: string; label: string; roles?: Role[] }[] = [
  { to: 'statements', label: 'Statements' },
  { to: 'sql', label: 'Run SQL' },
  { to: 'compare', label: 'Compare' },
  { to: 'chain', label: 'Chain', roles: readers },
  { to: 'policy', label: 'Policy' },
  { to: 'usage', label: 'Usage' },
];

// Everything below /console.
export default function Console() {
  const [location] = useLocation();
  const { person } = useSession();
  const [, , part = '', id] = location.split('/');
  if (part === '') return <Redirect to="/console/statements" replace />;
  const seen = tabs.filter((t) => !t.roles || t.roles.includes(person.role));
  return (
    <div className="console">
      <header className="console-head">
        <h1>Console</h1>
        <nav aria-label="Console">
          {seen.map((t) => (
            <Link key={t.to} href={`/console/${t.to}`} aria-current={part === t.to ? 'page' : undefined}>
              {t.label}
            </Link>
          ))}
        </nav>
      </header>
      <Part part={seen.some((t) => t.to === part) ? part : ''} id={id ? decodeURIComponent(id) : undefined} />
    </div>
  );
}

function Part({ part, id }: { part: string; id?: string }) {
  switch (part) {
    case 'statements':
    case 'sql':
      return <Workspace at={part === 'sql' ? 'sql' : id ? 'statement' : 'list'} id={part === 'statements' ? id : undefined} />;
    case 'compare':
      return <Compare />;
    case 'chain':
      return <Chain />;
    case 'policy':
      return <PolicyPage />;
    case 'usage':
      return <Usage />;
  }
  return <Empty title="There is no such page" />;
}
