import { useEffect, useState } from 'react';
import { chatApi, type ActivityState } from './api';
import type { ChatMessage, RetryData } from './types';
import { isTool } from './figures';

const askEvery = 2500;

// Activity is the line under a turn at work: where it waits, what it does, which sandbox it has.
export function Activity({ conversation, waiting, message, retry }: { conversation: string; waiting: boolean; message?: ChatMessage; retry?: RetryData }) {
  const [state, setState] = useState<ActivityState>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const stop = new AbortController();
    const ask = async () => {
      try {
        setState(await chatApi.activity(conversation, stop.signal));
      } catch {
        // The banner tells of a lost network.
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), askEvery);
    };
    timer = setTimeout(() => void ask(), 600);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [conversation]);
  return (
    <div className="activity" role="status">
      <span className="spinner" />
      <span>{doing(waiting, message, retry, state)}</span>
      {state && state.sandbox !== 'none' && <small>Sandbox {sandboxWords[state.sandbox]}</small>}
    </div>
  );
}

const sandboxWords: Record<ActivityState['sandbox'], string> = {
  none: '',
  starting: 'starting',
  running: 'running',
  paused: 'paused',
  stopped: 'stopped',
};

function doing(waiting: boolean, message: ChatMessage | undefined, retry: RetryData | undefined, state: ActivityState | undefined): string {
  if (waiting || state?.turn?.status === 'queued') {
    const ahead = state?.turn?.ahead ?? 0;
    return ahead > 0 ? `Waiting for its turn: ${ahead} ahead` : 'Waiting for its turn';
  }
  const last = message?.parts.findLast((p) => isTool(p) || p.type === 'text' || p.type === 'reasoning');
  if (last && isTool(last) && last.state !== 'output-available' && last.state !== 'output-error') return 'Working';
  if (last?.type === 'text' && last.state === 'streaming') return 'Answering';
  if (retry) return `The model didn’t answer (${retry.class}); asking it again`;
  return 'Thinking';
}
