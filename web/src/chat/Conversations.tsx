import { useCallback, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { asApiError, type ApiError } from '../api/error';
import { Button, IconButton } from '../parts/Button';
import { ErrorNote } from '../parts/States';
import { onDay } from '../parts/format';
import { chatApi } from './api';
import { listen } from './useThread';
import type { Conversation } from './types';

const pageSize = 50;
const lookEvery = 15_000;

// Conversations is the list at the left: the last used first, by day.
export function Conversations({ current, onNew, onPick }: { current?: string; onNew: () => void; onPick: () => void }) {
  const [all, setAll] = useState<Conversation[]>([]);
  const [more, setMore] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [words, setWords] = useState('');
  const load = useCallback(async (before?: string) => {
    try {
      const page = await chatApi.conversations(before);
      setError(undefined);
      setMore((m) => (before || page.length === pageSize ? page.length === pageSize : m));
      setAll((old) => merge(before ? [...old, ...page] : [...page, ...old]));
    } catch (e) {
      setError(asApiError(e));
    }
  }, []);
  useEffect(() => {
    void load();
    const look = () => document.visibilityState === 'visible' && void load();
    const timer = setInterval(look, lookEvery);
    const channel = listen(undefined, look);
    return () => {
      clearInterval(timer);
      channel.close();
    };
  }, [load, current]);

  const shown = words ? all.filter((c) => c.title.toLowerCase().includes(words.toLowerCase())) : all;
  return (
    <aside className="conversations" aria-label="Conversations">
      <div className="conversations-head">
        <Button kind="primary" icon="plus" onClick={onNew}>
          New conversation
        </Button>
        <input type="search" aria-label="Find a conversation" placeholder="Find" value={words} onChange={(e) => setWords(e.target.value)} />
      </div>
      {error && all.length === 0 && <ErrorNote error={error} retry={() => void load()} />}
      <nav aria-label="Conversations" className="conversations-list">
        {byDay(shown).map(([day, list]) => (
          <section key={day}>
            <h2>{day}</h2>
            <ul>
              {list.map((c) => (
                <Item key={c.id} c={c} here={c.id === current} onPick={onPick} renamed={(title) => setAll((old) => old.map((x) => (x.id === c.id ? { ...x, title } : x)))} />
              ))}
            </ul>
          </section>
        ))}
        {shown.length === 0 && !error && <p className="quiet">{words ? 'None with these words.' : 'None yet.'}</p>}
        {more && !words && (
          <Button kind="quiet" small onClick={() => void load(all.at(-1)?.updated)}>
            Older ones
          </Button>
        )}
      </nav>
    </aside>
  );
}

function Item({ c, here, onPick, renamed }: { c: Conversation; here: boolean; onPick: () => void; renamed: (title: string) => void }) {
  const [edit, setEdit] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (edit) field.current?.select();
  }, [edit]);
  if (edit) {
    return (
      <li>
        <form
          onSubmit={(e) => {
            e.preventDefault();
            const title = field.current!.value.trim();
            setEdit(false);
            if (title && title !== c.title) {
              renamed(title);
              chatApi.rename(c.id, title).catch(() => renamed(c.title));
            }
          }}
        >
          <input ref={field} aria-label="Title" defaultValue={c.title} maxLength={200} onBlur={() => setEdit(false)} onKeyDown={(e) => e.key === 'Escape' && setEdit(false)} />
        </form>
      </li>
    );
  }
  return (
    <li>
      <Link href={`/chat/${encodeURIComponent(c.id)}`} onClick={onPick} aria-current={here ? 'page' : undefined} title={c.title}>
        {c.title || 'Untitled'}
      </Link>
      <IconButton icon="pencil" label={`Rename ${c.title}`} onClick={() => setEdit(true)} />
    </li>
  );
}

// merge keeps the newest copy of each, the last used first.
function merge(list: Conversation[]): Conversation[] {
  const byId = new Map<string, Conversation>();
  for (const c of list) {
    const old = byId.get(c.id);
    if (!old || old.updated < c.updated) byId.set(c.id, c);
  }
  return [...byId.values()].sort((a, b) => b.updated.localeCompare(a.updated));
}

function byDay(list: Conversation[]): [string, Conversation[]][] {
  const days = new Map<string, Conversation[]>();
  const today = new Date();
  const yesterday = new Date(today.getTime() - 86_400_000);
  for (const c of list) {
    const d = new Date(c.updated);
    const day = d.toDateString() === today.toDateString() ? 'Today' : d.toDateString() === yesterday.toDateString() ? 'Yesterday' : onDay(d);
    days.set(day, [...(days.get(day) ?? []), c]);
  }
  return [...days];
}
