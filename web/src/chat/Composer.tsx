import { useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../parts/Button';
import { Icon } from '../parts/Icon';
import { bytes } from '../parts/format';
import { chatApi } from './api';
import type { Attachment, useAttachments } from './useAttachments';

const warmEvery = 60_000;

interface Props {
  conversation: string;
  busy: boolean;
  stopping: boolean;
  attachments: ReturnType<typeof useAttachments>;
  models: string[];
  model: string;
  setModel: (model: string) => void;
  onSend: (text: string, attached: string[]) => Promise<void>;
  onStop: () => void;
  draft: string; // put in from outside, such as a suggestion
}

// Composer is where a question is written. Enter sends, Shift+Enter begins a line.
export function Composer(p: Props) {
  const [text, setText] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const warmed = useRef(0);
  useEffect(() => {
    if (!p.draft) return;
    setText(p.draft);
    area.current?.focus();
  }, [p.draft]);
  useEffect(() => {
    // On a phone it would bring up the keyboard, over what is to be read.
    if (!matchMedia('(pointer: coarse)').matches) area.current?.focus();
  }, [p.conversation]);

  const sending = p.attachments.all.some((a) => a.state === 'sending');
  const can = text.trim() !== '' && !sending;
  const send = async () => {
    if (!can) return;
    const asked = text;
    const kept = p.attachments.all.filter((a) => a.state === 'kept').map((a) => a.file.name);
    setText('');
    try {
      await p.onSend(asked, kept);
      p.attachments.clear();
    } catch {
      setText(asked); // what was refused is shown above; the words aren't lost
    }
  };
  // Whoever begins to write will need a sandbox soon.
  const warm = () => {
    if (Date.now() - warmed.current < warmEvery) return;
    warmed.current = Date.now();
    chatApi.warm(p.conversation).catch(() => {}); // only a hint
  };

  return (
    <form
      className="composer"
      onSubmit={(e) => {
        e.preventDefault();
        void send();
      }}
    >
      {p.attachments.all.length > 0 && (
        <ul className="attachments" aria-label="Attached files">
          {p.attachments.all.map((a) => (
            <Attached key={a.key} a={a} retry={() => p.attachments.retry(a)} remove={() => p.attachments.remove(a.key)} />
          ))}
        </ul>
      )}
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          aria-label="Your question"
          placeholder={p.busy ? 'Add something: it is read at the next step' : 'Ask about submissions, documents or figures'}
          value={text}
          onFocus={warm}
          onChange={(e) => setText(e.target.value)}
          onPaste={(e) => e.clipboardData.files.length > 0 && (e.preventDefault(), p.attachments.add(e.clipboardData.files))}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing) {
              e.preventDefault();
              void send();
            }
          }}
        />
        <div className="composer-row">
          <IconButton icon="clip" label="Attach files" onClick={() => picker.current?.click()} />
          <input ref={picker} type="file" multiple hidden onChange={(e) => (p.attachments.add(e.target.files ?? []), (e.target.value = ''))} />
          {p.models.length > 1 && (
            <select className="composer-model" aria-label="Model" value={p.model} onChange={(e) => p.setModel(e.target.value)}>
              {p.models.map((m, i) => (
                <option key={m} value={i === 0 ? '' : m}>
                  {m}
                </option>
              ))}
            </select>
          )}
          <span className="composer-help">{sending ? 'Files are being sent' : 'Enter sends, Shift+Enter begins a line'}</span>
          {p.busy && (
            <Button small icon="stop" busy={p.stopping} onClick={p.onStop}>
              {p.stopping ? 'Stopping' : 'Stop'}
            </Button>
          )}
          <Button small kind="primary" type="submit" icon="send" disabled={!can}>
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}

function Attached({ a, retry, remove }: { a: Attachment; retry: () => void; remove: () => void }) {
  const share = a.file.size ? Math.floor((a.sent / a.file.size) * 100) : 100;
  return (
    <li className={`attachment attachment-${a.state}`}>
      <Icon name={a.state === 'failed' ? 'error' : a.warning ? 'warn' : a.state === 'kept' ? 'check' : 'file'} size={16} />
      <div>
        <b title={a.file.name}>{a.file.name}</b>{' '}
        <small>
          {a.state === 'sending' ? `${bytes(a.sent)} of ${bytes(a.file.size)}` : bytes(a.file.size)}
        </small>
        {a.state === 'sending' && <progress value={a.sent} max={a.file.size || 1} aria-label={`Sending ${a.file.name}, ${share} %`} />}
        {a.error && (
          <p role="alert">
            {a.error.message}
            {a.error.hint && `: ${a.error.hint}`}
          </p>
        )}
        {a.warning && <p role="status">{a.warning}</p>}
      </div>
      {a.state === 'failed' && <IconButton icon="again" label={`Send ${a.file.name} again`} onClick={retry} />}
      <IconButton icon="close" label={`Remove ${a.file.name}`} onClick={remove} />
    </li>
  );
}
