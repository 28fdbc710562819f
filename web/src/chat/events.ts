// Server-sent events of a turn's stream: a sequence number and a part, or the end.
export type StreamEvent = { seq: number; data: string } | 'done';

// silence is how long a stream may say nothing; the server says at least a comment every 15 seconds.
const silence = 45_000;

// readEvents reads a body until its end. It throws when the body falls silent.
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silence);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(lines: string): StreamEvent | undefined {
  let seq = 0;
  let data: string | undefined;
  for (const line of lines.split('\n')) {
    if (line.startsWith('id:')) seq = Number(line.slice(3));
    else if (line.startsWith('data:')) data = line.slice(5).trimStart();
  }
  if (data === undefined) return undefined; // a comment
  return data === '[DONE]' ? 'done' : { seq, data };
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream fell silent')), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
