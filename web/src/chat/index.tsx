import { Page } from '../parts/Page';

// Everything below /chat.
export default function Chat() {
  return <Page title="Chat">…</Page>;
}
