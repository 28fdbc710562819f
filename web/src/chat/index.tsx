import { useState } from 'react';
import { useLocation, useRoute } from 'wouter';
import { Conversation } from './Conversation';
import { Conversations } from './Conversations';
import './chat.css';
import './message.css';

// Everything below /chat. A new conversation has its id from the start; its address appears with its first message.
export default function Chat() {
  const [, go] = useLocation();
  const [named, params] = useRoute('/chat/:id');
  const [fresh, setFresh] = useState(() => crypto.randomUUID());
  const [listed, setListed] = useState(false); // on a phone, the list is over the conversation
  const id = named ? decodeURIComponent(params.id) : fresh;
  return (
    <div className="chat" data-listed={listed}>
      <Conversations
        current={named ? id : undefined}
        onPick={() => setListed(false)}
        onNew={() => {
          setFresh(crypto.randomUUID());
          setListed(false);
          go('/chat');
        }}
      />
      <Conversation
        key={id}
        id={id}
        fresh={!named}
        onFirst={() => {
          go(`/chat/${id}`, { replace: true });
          setFresh(crypto.randomUUID());
        }}
        listed={listed}
        setListed={setListed}
      />
    </div>
  );
}
