import { useEffect, useId, useState } from 'react';
import { Link } from 'wouter';
import { Icon } from '../parts/Icon';
import { count, seconds } from '../parts/format';
import { auditIds } from './figures';
import { Rows } from './Rows';
import { sinceSeen, useProgress, watched } from './progress';
import { summary } from './summary';
import type { ToolPart } from './types';

// Step is one tool call: a line that opens to what was asked, what came back and how long it took.
export function Step({ part, took: exactly, over }: { part: ToolPart; took?: number; over: boolean }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const running = !over && (part.state === 'input-available' || part.state === 'input-streaming');
  const failed = part.state === 'output-error';
  const took = exactly ?? (over || running ? undefined : watched(part.toolCallId));
  const state = running ? 'running' : failed ? 'failed' : part.state === 'output-available' ? 'done' : 'unfinished';
  return (
    <li className={`step step-${state}`}>
      <button type="button" className="step-line" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <span className="step-state">{running ? <span className="spinner" /> : <Icon name={failed ? 'warn' : state === 'done' ? 'check' : 'stop'} size={15} />}</span>
        <span className="step-text">
          <code className="step-tool">{part.toolName}</code> {summary(part)}
          <span className="hidden">, {state}</span>
        </span>
        <span className="step-took">{running ? <Running call={part.toolCallId} /> : took === undefined ? '' : seconds(took)}</span>
        <Icon name="chevron" size={14} />
      </button>
      {running && <Progress call={part.toolCallId} />}
      <div id={id} hidden={!open} className="step-detail">
        {open && <Detail part={part} took={took} />}
      </div>
    </li>
  );
}

// Running counts the seconds of a call under way.
function Running({ call }: { call: string }) {
  const [ms, setMs] = useState(() => sinceSeen(call));
  useEffect(() => {
    const timer = setInterval(() => setMs(sinceSeen(call)), 1000);
    return () => clearInterval(timer);
  }, [call]);
  return <>{ms < 1000 ? '' : seconds(Math.floor(ms / 1000) * 1000)}</>;
}

function Progress({ call }: { call: string }) {
  const p = useProgress(call);
  if (!p?.message && !p?.total) return null;
  return (
    <div className="step-progress" role="status">
      {p.total ? <progress value={p.done} max={p.total} aria-label={p.message ?? 'Progress'} /> : null}
      <span>
        {p.message}
        {p.total ? ` ${count(p.done ?? 0)} of ${count(p.total)}` : ''}
      </span>
    </div>
  );
}

function Detail({ part, took }: { part: ToolPart; took?: number }) {
  const input = (part.input ?? {}) as Record<string, unknown>;
  const ids = part.state === 'output-available' ? auditIds(part.output) : [];
  const { code, rest } = asked(part.toolName, input);
  return (
    <>
      {code && <Block label={part.toolName === 'sql' ? 'SQL' : 'Code'} text={code} />}
      {Object.keys(rest).length > 0 && <Block label="Asked" text={JSON.stringify(rest, null, 2)} />}
      {part.state === 'output-available' && <Output output={part.output} />}
      {part.state === 'output-error' && <Failure text={part.errorText ?? ''} />}
      <p className="step-foot">
        {took !== undefined && <span>{seconds(took)}</span>}
        {ids.slice(0, 20).map((audit, i) => (
          <Link key={audit} href={`/console/statements/${audit}`}>
            Statement {ids.length > 1 ? i + 1 : ''} <span className="mono">{audit.slice(0, 12)}</span>
          </Link>
        ))}
        {ids.length > 20 && <span>and {ids.length - 20} more</span>}
      </p>
    </>
  );
}

// asked takes the text that a person reads as code out of a call's input.
function asked(tool: string, input: Record<string, unknown>) {
  const key = { sql: 'query', run: 'script', write_file: 'content' }[tool];
  const { [key ?? '']: code, ...rest } = input;
  return { code: typeof code === 'string' ? code : undefined, rest };
}

function Output({ output }: { output: unknown }) {
  if (typeof output === 'string') return <Block label="Output" text={output} />;
  const o = (output ?? {}) as Record<string, unknown>;
  if (Array.isArray(o.columns) && Array.isArray(o.rows)) return <Rows answer={o as unknown as Parameters<typeof Rows>[0]['answer']} />;
  if (typeof o.output === 'string') {
    return (
      <>
        <Block label={`Output${typeof o.exit_code === 'number' ? `, exit status ${o.exit_code}` : ''}${o.truncated ? ', cut' : ''}`} text={o.output || '(nothing)'} />
      </>
    );
  }
  return <Block label="Answer" text={JSON.stringify(output, null, 2)} />;
}

// Failure shows a typed error as a person reads it.
function Failure({ text }: { text: string }) {
  let error: Record<string, unknown> = {};
  try {
    error = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Not typed: the text says it.
  }
  if (typeof error.message !== 'string') return <Block label="Error" text={text} />;
  return (
    <div className="step-failure">
      <p>
        <b>{String(error.message)}</b> {error.code ? <span className="quiet">({String(error.code)})</span> : null}
      </p>
      {error.hint ? <p>{String(error.hint)}</p> : null}
      {error.rule ? <p className="quiet">Rule {String(error.rule)}</p> : null}
      {typeof error.audit_id === 'string' && <Link href={`/console/statements/${encodeURIComponent(error.audit_id)}`}>Statement {error.audit_id.slice(0, 12)}</Link>}
    </div>
  );
}

const shownChars = 20_000;

function Block({ label, text }: { label: string; text: string }) {
  return (
    <figure className="block">
      <figcaption>{label}</figcaption>
      <pre tabIndex={0}>{text.length > shownChars ? `${text.slice(0, shownChars)}\n… ${count(text.length - shownChars)} characters more` : text}</pre>
    </figure>
  );
}
