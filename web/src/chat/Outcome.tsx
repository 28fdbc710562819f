import { Button } from '../parts/Button';
import { Icon } from '../parts/Icon';
import type { OutcomeData } from './types';

// Outcome says how a turn ended when that wasn't well, whose fault it was, and what was saved.
export function Outcome({ outcome, files, steps, again }: { outcome: OutcomeData; files: number; steps: number; again?: () => void }) {
  if (outcome.status === 'completed') return null;
  const { tone, title, text } = words(outcome);
  return (
    <div className={`outcome note note-${tone}`} role="note">
      <Icon name={outcome.status === 'cancelled' ? 'stop' : tone === 'error' ? 'error' : 'warn'} />
      <div>
        <p>
          <b>{title}</b>
        </p>
        <p>{text}</p>
        {outcome.hint && <p>{sentence(outcome.hint)}</p>}
        <p className="quiet">{saved(files, steps)}</p>
      </div>
      {again && (
        <Button small icon="again" onClick={again}>
          Ask again
        </Button>
      )}
    </div>
  );
}

function words(o: OutcomeData): { tone: 'warn' | 'error' | 'info'; title: string; text: string } {
  switch (o.status) {
    case 'cut_short':
      return { tone: 'warn', title: 'Cut short: this answer is not complete', text: sentence(o.message ?? 'a limit was reached') };
    case 'cancelled':
      return { tone: 'info', title: 'Stopped', text: 'This turn was stopped before its end.' };
    case 'failed':
      return o.fault === 'model'
        ? { tone: 'error', title: 'The model failed', text: `${sentence(o.message ?? 'no answer came')} This is the model’s doing; the system around it works.` }
        : { tone: 'error', title: `The system failed${o.component ? `: ${o.component}` : ''}`, text: `${sentence(o.message ?? 'a part did not answer')} This says nothing about the question or the data.` };
    default:
      return { tone: 'info', title: o.status, text: o.message ?? '' };
  }
}

function saved(files: number, steps: number): string {
  const parts = [steps && `${steps} finished ${steps === 1 ? 'step' : 'steps'}`, files && `${files} ${files === 1 ? 'file' : 'files'}`].filter(Boolean);
  return parts.length ? `Saved: the text above, ${parts.join(' and ')}.` : 'What is shown of this turn is saved.';
}

function sentence(text: string) {
  const t = text.trim();
  return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?]$/.test(t) ? '' : '.');
}
