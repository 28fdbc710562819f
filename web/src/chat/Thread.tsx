import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { IconButton } from '../parts/Button';
import { Activity } from './Activity';
import { Message } from './Message';
import type { Thread } from './useThread';
import type { ChatMessage } from './types';

// Messages draws what is in sight of a conversation, however long, and stays at its end while an answer grows, unless the
// reader scrolled up.
export function Messages({ conversation, thread, ask }: { conversation: string; thread: Thread; ask: (text: string) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const { messages, busy } = thread;
  const last = messages.at(-1);
  const v = useVirtualizer({
    count: messages.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (messages[i]?.role === 'user' ? 72 : 260),
    getItemKey: (i) => messages[i]!.id,
    overscan: 4,
    paddingStart: 20,
    paddingEnd: 12,
  });
  const size = v.getTotalSize();
  const toEnd = useCallback(() => {
    const b = box.current;
    if (b) b.scrollTop = b.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    if (pinned.current) toEnd();
  }, [size, messages.length, busy, toEnd]);
  useEffect(() => {
    if (last?.role === 'user') {
      pinned.current = true; // asking leads back to the end
      toEnd();
    }
  }, [last?.id, last?.role, toEnd]);

  // A new function each time would draw every message again.
  const latest = useRef({ messages, ask });
  latest.current = { messages, ask };
  const again = useRef(new Map<string, () => void>());
  const againFor = (m: ChatMessage) => {
    let f = again.current.get(m.id);
    if (!f) {
      f = () => {
        const { messages: all, ask: send } = latest.current;
        const question = all.slice(0, all.findIndex((x) => x.id === m.id)).findLast((x) => x.role === 'user');
        const text = question?.parts.find((p) => p.type === 'text');
        if (text?.type === 'text') send(text.text);
      };
      again.current.set(m.id, f);
    }
    return f;
  };

  return (
    <div className="messages-frame">
      <div
        ref={box}
        className="messages"
        tabIndex={0}
        role="region"
        aria-label="Messages"
        onScroll={(e) => {
          const b = e.currentTarget;
          pinned.current = b.scrollHeight - b.scrollTop - b.clientHeight < 60;
          b.parentElement!.dataset.away = String(!pinned.current);
        }}
      >
        <div role="feed" aria-busy={busy} style={{ height: size, position: 'relative' }}>
          {v.getVirtualItems().map((item) => {
            const m = messages[item.index]!;
            const streaming = busy && item.index === messages.length - 1 && m.role === 'assistant';
            return (
              <article
                key={item.key}
                data-index={item.index}
                ref={v.measureElement}
                className="message"
                aria-posinset={item.index + 1}
                aria-setsize={messages.length}
                aria-label={m.role === 'user' ? 'Question' : 'Answer'}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Message message={m} streaming={streaming} again={m.role === 'assistant' && !busy ? againFor(m) : undefined} />
              </article>
            );
          })}
        </div>
        {busy && <Activity conversation={conversation} waiting={thread.waiting} message={last} retry={thread.retry} />}
      </div>
      <div className="hidden" aria-live="polite">
        {busy ? 'Bordereau is working' : last?.role === 'assistant' ? 'The answer is there' : ''}
      </div>
      <IconButton
        icon="down"
        label="To the newest message"
        className="to-end"
        onClick={() => {
          pinned.current = true;
          toEnd();
        }}
      />
    </div>
  );
}
