import type { ChatTransport } from 'ai';
import { asApiError } from '../api/error';
import { request } from '../api/client';
import { signedInAgain } from '../api/session';
import { connection, pause } from './connection';
import { readEvents } from './events';
import type { ChatChunk, ChatMessage } from './types';

type Send = Parameters<ChatTransport<ChatMessage>['sendMessages']>[0];
type Reconnect = Parameters<ChatTransport<ChatMessage>['reconnectToStream']>[0];
type Open = (last: number) => Promise<Response>;

// ResumingTransport follows a turn's stream to its [DONE], whatever happens in between: an end before it is a cut, after which
// it goes on from the last event that arrived. useChat sees one stream without gaps or repetitions. It gives up only when the
// server refuses for good.
export class ResumingTransport implements ChatTransport<ChatMessage> {
  readonly resumeStreamIsReplay = true;

  // model is asked for with each message; '' leaves it to the server.
  constructor(private readonly model: () => string) {}

  // The message's id makes sending again harmless: the server answers a known one with the stream of its turn.
  async sendMessages({ chatId, messages, abortSignal }: Send) {
    const message = messages.at(-1)!;
    const body = JSON.stringify({ id: chatId, message: { id: message.id, role: message.role, parts: message.parts }, trigger: 'submit-message', model: this.model() || undefined });
    const post = () => request('/api/chat', { method: 'POST', body, headers: { 'Content-Type': 'application/json' }, signal: abortSignal });
    const first = await persist(post, abortSignal);
    return this.follow(chatId, first, abortSignal);
  }

  async reconnectToStream({ chatId, abortSignal }: Reconnect) {
    const first = await persist(() => request(`/api/chat/${encodeURIComponent(chatId)}/stream`, { signal: abortSignal }), abortSignal);
    return first.status === 204 ? null : this.follow(chatId, first, abortSignal);
  }

  private follow(chatId: string, first: Response, signal?: AbortSignal): ReadableStream<ChatChunk> {
    const turn = first.headers.get('Bordereau-Turn') ?? '';
    const open: Open = (last) =>
      request(`/api/chat/${encodeURIComponent(chatId)}/stream?turn=${encodeURIComponent(turn)}`, { headers: { 'Last-Event-ID': String(last) }, signal });
    const chunks = whole(first, open, signal);
    return new ReadableStream<ChatChunk>({
      async pull(to) {
        const { done, value } = await chunks.next();
        if (done) to.close();
        else to.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    });
  }
}

// whole yields a turn's parts in order, each once.
async function* whole(first: Response, open: Open, signal?: AbortSignal): AsyncGenerator<ChatChunk, void> {
  let last = 0;
  let tries = 0;
  for (let response: Response | undefined = first; ; response = undefined) {
    try {
      response ??= await persist(() => open(last), signal);
      if (response.status === 204 || !response.body) return; // its end was seen
      for await (const event of readEvents(response.body)) {
        connection.back();
        tries = 0;
        if (event === 'done') return;
        if (event.seq <= last) continue;
        if (event.seq !== last + 1) throw new Error(`events ${last + 1} to ${event.seq - 1} are missing`);
        last = event.seq;
        const chunk = JSON.parse(event.data) as ChatChunk;
        // The outcome before it has said more; as an error part it would make the client forget what was saved.
        if (chunk.type !== 'error') yield chunk;
      }
    } catch (e) {
      if (signal?.aborted || fatal(e)) throw e;
    }
    if (signal?.aborted) return;
    connection.lost();
    await pause(tries++, signal);
  }
}

// persist asks until there is an answer: through lost networks, restarts and sessions that ran out.
async function persist(ask: () => Promise<Response>, signal?: AbortSignal): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      const response = await ask();
      connection.back();
      return response;
    } catch (e) {
      if (signal?.aborted || fatal(e)) throw e;
      if (asApiError(e).signedOut) {
        connection.back(); // the server answered
        await signedInAgain(signal);
        continue;
      }
      if (asApiError(e).status === 0) connection.lost();
      await pause(tries, signal);
    }
  }
}

// fatal tells whether asking again can't help.
function fatal(e: unknown): boolean {
  const error = asApiError(e);
  return error.status >= 400 && error.status < 500 && !error.signedOut && !error.retryable;
}
