import { Icon } from '../parts/Icon';
import { isTool } from './figures';
import type { ChatMessage } from './types';

interface PlanStep {
  title: string;
  state: 'todo' | 'doing' | 'done';
}

const words = { todo: 'to do', doing: 'under way', done: 'done' };

// planOf is the newest plan that a model showed in an answer.
export function planOf(message: ChatMessage): PlanStep[] | undefined {
  const call = message.parts.findLast((p) => isTool(p) && p.toolName === 'plan' && p.state === 'output-available');
  const steps = call && isTool(call) ? (call.input as { steps?: unknown }).steps : undefined;
  return Array.isArray(steps) ? (steps as PlanStep[]) : undefined;
}

// Plan is what a long piece of work consists of, and how far it is.
export function Plan({ steps, running }: { steps: PlanStep[]; running: boolean }) {
  const done = steps.filter((s) => s.state === 'done').length;
  return (
    <section className="plan card" aria-label="Plan">
      <h3>
        Plan{' '}
        <small>
          {done} of {steps.length} done
        </small>
      </h3>
      <ol>
        {steps.map((s, i) => (
          <li key={i} className={`plan-${s.state}`}>
            {s.state === 'done' ? <Icon name="check" size={15} /> : s.state === 'doing' && running ? <span className="spinner" /> : <span className="plan-dot" />}
            <span>
              {s.title}
              <span className="hidden">, {words[s.state]}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
