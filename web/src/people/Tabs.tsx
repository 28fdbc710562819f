import { Link, useLocation } from 'wouter';

// Tabs are the pages of one face.
export function Tabs({ label, items }: { label: string; items: [to: string, text: string][] }) {
  const [location] = useLocation();
  return (
    <nav className="tabs" aria-label={label}>
      {items.map(([to, text]) => (
        <Link key={to} href={to} aria-current={location === to ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
