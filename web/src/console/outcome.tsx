import { Badge } from '../parts/States';

const tones: Record<string, 'good' | 'bad' | 'warn' | 'info'> = { answered: 'good', running: 'info', interrupted: 'warn', timeout: 'warn', rate_limited: 'warn' };

// Outcome says what became of a statement, in a word.
export function Outcome({ of }: { of: { decision: string; outcome: string } }) {
  if (of.decision === 'refused') return <Badge tone="bad">refused</Badge>;
  return <Badge tone={tones[of.outcome] ?? 'bad'}>{of.outcome.replace('_', ' ')}</Badge>;
}
