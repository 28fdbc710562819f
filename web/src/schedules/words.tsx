import { Badge } from '../parts/States';
import type { Kind, Run } from './types';

const tones = { completed: 'good', running: 'info', queued: 'info', cut_short: 'warn', skipped: 'warn', missed: 'warn', cancelled: 'plain', failed: 'bad' } as const;

// StateBadge is how a run stands.
export const StateBadge = ({ run }: { run: Run }) => <Badge tone={tones[run.state]}>{run.state.replace('_', ' ')}</Badge>;

export const alerts: Record<string, string> = {
  failed: 'an alert was sent: the run failed',
  cut_short: 'an alert was sent: the run was cut short',
  empty: 'an alert was sent: nothing was found, where something always was',
  paused: 'an alert was sent: the schedule is paused',
};

export const kinds: Record<Kind, string> = { email: 'E-mail', webhook: 'Webhook', folder: 'Folder' };

// inZone writes a moment on the wall clock of a zone.
export function inZone(iso: string, zone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }).format(new Date(iso));
}

export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
