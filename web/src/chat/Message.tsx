import { memo, useMemo } from 'react';
import { IconButton } from '../parts/Button';
import { Icon } from '../parts/Icon';
import { when } from '../parts/format';
import { Artifacts } from './Artifacts';
import { Findings, isReconciled } from './Findings';
import { SafeMarkdown } from './Markdown';
import { Outcome } from './Outcome';
import { Plan, planOf } from './Plan';
import { Step } from './Step';
import { figuresOf, isTool } from './figures';
import type { ArtifactData, ChatMessage, ChatPart, StoredMessage, ToolPart } from './types';
import { useDurations } from './useDurations';
import { attachedPrefix, outcomeOf } from './useThread';

interface Props {
  message: ChatMessage;
  streaming: boolean; // its turn is under way
  again?: () => void; // asks its question once more
}

// Message is one message of a conversation. It is drawn again only when it changes.
export const Message = memo(function Message(p: Props) {
  return p.message.role === 'user' ? <Question message={p.message} /> : <Answer {...p} />;
});

function Question({ message }: { message: ChatMessage }) {
  const texts = message.parts.flatMap((p) => (p.type === 'text' ? [p.text] : []));
  const files = texts.slice(1).flatMap((t) => (t.startsWith(attachedPrefix) ? t.slice(attachedPrefix.length).trim().split('\n') : []));
  const words = texts.filter((t, i) => i === 0 || !t.startsWith(attachedPrefix)).join('\n');
  const created = (message as Partial<StoredMessage>).created;
  return (
    <div className="question">
      <h2 className="hidden">You asked</h2>
      <p>{words}</p>
      {files.length > 0 && (
        <ul aria-label="Attached files">
          {files.map((f) => (
            <li key={f}>
              <Icon name="clip" size={14} /> {f}
            </li>
          ))}
        </ul>
      )}
      {created && <small>{when(created)}</small>}
    </div>
  );
}

function Answer({ message, streaming, again }: Props) {
  const outcome = outcomeOf(message);
  const tools = message.parts.filter(isTool);
  const plan = planOf(message);
  const files = useMemo(() => artifactsOf(message), [message]);
  const known = useMemo(() => (streaming ? undefined : figuresOf(message)), [message, streaming]);
  const turn = message.parts.find((p) => p.type === 'data-turn')?.data;
  const took = useDurations(turn?.turn, !streaming && tools.length > 0);
  const text = message.parts.flatMap((p) => (p.type === 'text' ? [p.text] : [])).join('\n\n');
  return (
    <div className="answer" aria-busy={streaming}>
      <h2 className="hidden">Bordereau answered</h2>
      {plan && <Plan steps={plan} running={streaming} />}
      {groups(message.parts).map((group, i) => {
        if (Array.isArray(group)) {
          return (
            <ol className="steps" key={i} aria-label="Steps">
              {group.map((part) => (
                <Step key={part.toolCallId} part={part} took={took?.[tools.indexOf(part)]} over={!streaming} />
              ))}
            </ol>
          );
        }
        if (group.type === 'text') return <SafeMarkdown key={i} text={group.text} known={known} />;
        if (group.type === 'reasoning') return <Reasoning key={i} text={group.text} />;
        return null;
      })}
      {tools.map((t) => (t.toolName === 'reconcile' && t.state === 'output-available' && isReconciled(t.output) ? <Findings key={t.toolCallId} run={t.output} /> : null))}
      {files.length > 0 && <Artifacts files={files} />}
      {outcome && <Outcome outcome={outcome} files={files.length} steps={tools.filter((t) => t.toolName !== 'plan' && t.state === 'output-available').length} again={again} />}
      {!streaming && (
        <div className="answer-foot">
          {text && <IconButton icon="copy" label="Copy the answer" onClick={() => void navigator.clipboard.writeText(text)} />}
          {again && outcome?.status === 'completed' && <IconButton icon="again" label="Ask again" onClick={again} />}
          {turn?.model && <small>{turn.model}</small>}
          {(message as Partial<StoredMessage>).created && <small>{when((message as StoredMessage).created)}</small>}
        </div>
      )}
    </div>
  );
}

function Reasoning({ text }: { text: string }) {
  if (!text.trim()) return null;
  return (
    <details className="reasoning">
      <summary>Thinking</summary>
      <p>{text}</p>
    </details>
  );
}

// groups puts tool calls that follow each other into one list of steps. What a plan says stands in its own card.
function groups(parts: ChatPart[]): (ToolPart[] | Exclude<ChatPart, ToolPart>)[] {
  const out: (ToolPart[] | Exclude<ChatPart, ToolPart>)[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (isTool(part) && part.toolName === 'plan' && part.state !== 'output-error') continue;
    if (isTool(part)) {
      if (Array.isArray(last)) last.push(part);
      else out.push([part]);
    } else if (part.type === 'text' ? part.text.trim() : part.type === 'reasoning') {
      out.push(part as Exclude<ChatPart, ToolPart>);
    }
  }
  return out;
}

// artifactsOf are the files of an answer, each in its newest version.
function artifactsOf(message: ChatMessage): ArtifactData[] {
  const byId = new Map<string, ArtifactData>();
  for (const p of message.parts) {
    // Only our own addresses are ever fetched.
    if (p.type === 'data-artifact' && /^\/api\/artifacts\/[\w-]+$/.test(p.data.url)) byId.set(p.data.id, p.data);
  }
  return [...byId.values()];
}
