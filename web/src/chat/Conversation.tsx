import { useEffect, useState } from 'react';
import { useSession } from '../api/session';
import { useResource } from '../api/useResource';
import { IconButton } from '../parts/Button';
import { ErrorNote, Loading } from '../parts/States';
import { Composer } from './Composer';
import { Messages } from './Thread';
import { Welcome } from './Welcome';
import { chatApi } from './api';
import { useConnectionLost } from './connection';
import { useAttachments } from './useAttachments';
import { useThread } from './useThread';

interface Props {
  id: string;
  fresh: boolean; // nothing was asked in it yet
  onFirst: () => void;
  listed: boolean;
  setListed: (listed: boolean) => void;
}

// Conversation is one talk: its messages, and where the next is written.
export function Conversation({ id, fresh, onFirst, listed, setListed }: Props) {
  const [model, setModel] = useState('');
  const [draft, setDraft] = useState('');
  const [dragged, setDragged] = useState(false);
  const { person } = useSession();
  const thread = useThread(id, fresh, model);
  const attachments = useAttachments(id);
  const lost = useConnectionLost();
  const models = useResource('models', (signal) => chatApi.models(signal));
  const about = useResource(fresh ? undefined : id, (signal) => chatApi.conversation(id, signal));
  const { reload } = about;
  useEffect(() => {
    if (!thread.waiting) reload(); // the first message gives it a title
  }, [thread.waiting, reload]);
  const foreign = about.data !== undefined && about.data.person !== person.id;
  useEffect(() => {
    document.title = about.data?.title ? `${about.data.title} – Bordereau` : 'Bordereau';
  }, [about.data?.title]);

  const send = async (text: string, attached: string[] = []) => {
    // A conversation that its first file made is called like the file.
    const rename = fresh && attached.length > 0;
    if (fresh) onFirst();
    await thread.send(text, attached);
    if (rename) chatApi.rename(id, text.slice(0, 80)).catch(() => {}); // it keeps the file's name
  };

  return (
    <section
      className="conversation"
      data-dragged={dragged}
      aria-label="Conversation"
      onDragOver={(e) => {
        if (!e.dataTransfer.types.includes('Files')) return;
        e.preventDefault();
        setDragged(true);
      }}
      onDragLeave={(e) => !e.currentTarget.contains(e.relatedTarget as Node | null) && setDragged(false)}
      onDrop={(e) => {
        e.preventDefault();
        setDragged(false);
        if (!foreign) attachments.add(e.dataTransfer.files);
      }}
    >
      <header className="conversation-head">
        <IconButton icon="list" label={listed ? 'Hide conversations' : 'Show conversations'} className="list-toggle" aria-expanded={listed} onClick={() => setListed(!listed)} />
        <h1>{fresh ? 'New conversation' : (about.data?.title ?? 'Conversation')}</h1>
      </header>
      {lost && (
        <div className="banner" role="alert">
          <span className="spinner" />
          The connection is lost. This page tries again by itself; work on the server goes on.
        </div>
      )}
      <div className="conversation-body">
        {thread.error ? (
          <div className="conversation-note">
            <ErrorNote error={thread.error} retry={thread.reload} />
          </div>
        ) : thread.loading ? (
          <Loading what="Opening the conversation" />
        ) : thread.messages.length === 0 ? (
          <Welcome name={person.name} pick={setDraft} />
        ) : (
          <Messages conversation={id} thread={thread} ask={(text) => void send(text)} />
        )}
      </div>
      <div className="conversation-foot">
        {thread.refused && <ErrorNote error={thread.refused} />}
        {foreign ? (
          <p className="quiet">This is somebody else’s conversation: you can read it.</p>
        ) : (
          <Composer
            conversation={id}
            busy={thread.busy}
            stopping={thread.stopping}
            attachments={attachments}
            models={models.data ?? []}
            model={model}
            setModel={setModel}
            onSend={send}
            onStop={() => void thread.stop()}
            draft={thread.unsent || draft}
          />
        )}
      </div>
      {dragged && <div className="drop">Drop the files to attach them</div>}
    </section>
  );
}
