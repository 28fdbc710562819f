import { memo, useMemo, type ReactNode } from 'react';
import Markdown, { defaultUrlTransform, type Components } from 'react-markdown';
import { figures, type Figures } from './figures';
import { tables } from './tables';

// What a model or a document wrote: text, never markup. HTML stays text, pictures are never fetched, and a link says where it
// leads, whatever its text claims.
export const SafeMarkdown = memo(function SafeMarkdown({ text, known }: { text: string; known?: Figures }) {
  const rehype = useMemo(() => (known?.size ? [[figures, known] as [typeof figures, Figures]] : []), [known]);
  return (
    <div className="prose">
      <Markdown remarkPlugins={plugins} rehypePlugins={rehype} components={components} urlTransform={defaultUrlTransform}>
        {text}
      </Markdown>
    </div>
  );
});

const plugins = [tables];

const components: Components = {
  a: ({ href, title, children }) => <Anchor href={href} figure={title?.startsWith(figureTitle) ? title : undefined}>{children}</Anchor>,
  img: ({ alt, src }) => (
    <span className="no-picture" title={typeof src === 'string' ? src : undefined}>
      [picture{alt ? `: ${alt}` : ''}, not loaded]
    </span>
  ),
  table: ({ children }) => (
    <div className="prose-table" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

const figureTitle = 'From ';
// Addresses of ours that an answer may lead to.
const ours = /^\/(console\/statements|runs|guidelines|schedules|chat|api\/artifacts)(\/[\w.:-]+)*$/;

function Anchor({ href, figure, children }: { href?: string; figure?: string; children: ReactNode }) {
  if (href && ours.test(href)) {
    return (
      <a href={href} title={figure} className={figure ? 'figure' : undefined}>
        {children}
      </a>
    );
  }
  const target = external(href);
  if (!target) return <span>{children}</span>;
  return (
    <>
      <a href={target.href} target="_blank" rel="noopener noreferrer nofollow" title={target.href}>
        {children}
      </a>
      <span className="link-target"> ({target.shown})</span>
    </>
  );
}

// external reads an address elsewhere. The URL writes its host as it really is: without a name before @, in ASCII.
function external(href: string | undefined): { href: string; shown: string } | undefined {
  let url: URL;
  try {
    url = new URL(href ?? '');
  } catch {
    return undefined;
  }
  if (url.protocol === 'mailto:') return { href: url.href, shown: url.href };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  url.username = url.password = '';
  const rest = url.pathname + url.search;
  const shown = url.host + (rest.length > 41 ? rest.slice(0, 40) + '…' : rest === '/' ? '' : rest);
  return { href: url.href, shown };
}
