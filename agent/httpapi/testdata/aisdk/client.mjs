// A stock AI SDK client against the HTTP face. node client.mjs AI-MODULE URL KEY SCENARIO CHAT; prints what it saw as JSON.
const [, , aiModule, url, key, scenario, id] = process.argv;
const { AbstractChat, DefaultChatTransport } = await import(aiModule);

class State {
  status = 'ready';
  error = undefined;
  messages = [];
  pushMessage = m => { this.messages = [...this.messages, m]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (i, m) => { this.messages = [...this.messages.slice(0, i), this.snapshot(m), ...this.messages.slice(i + 1)]; };
  snapshot = v => structuredClone(v);
}

class Chat extends AbstractChat {
  constructor(init) { super({ ...init, state: new State() }); }
}

const seen = { data: [], errors: [], finished: [] };
const headers = { authorization: `Bearer ${key}` };

function chat(extra = {}) {
  const c = new Chat({
    id,
    transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers: { ...headers, ...extra } }),
    onError: e => seen.errors.push(e.message),
    onData: d => seen.data.push(d.type),
    onFinish: f => seen.finished.push(`${f.finishReason ?? ''}${f.isAbort ? ' abort' : ''}${f.isDisconnect ? ' disconnect' : ''}${f.isError ? ' error' : ''}`),
  });
  return c;
}

const textOf = m => (m?.parts ?? []).filter(p => p.type === 'text').map(p => p.text).join('');
const stored = async () => (await (await fetch(`${url}/api/conversations/${id}/messages`, { headers })).json()).messages;

async function load(c) {
  c.messages = (await stored()).map(({ id, role, parts }) => ({ id, role, parts }));
}

const scenarios = {
  // Ask, and show what came.
  async ask() {
    const c = chat();
    await c.sendMessage({ text: 'hello' });
    return c;
  },
  // The socket is cut in the middle; the client asks again.
  async cut() {
    const c = chat({ 'x-test-cut': '6' });
    await c.sendMessage({ text: 'hello' });
    seen.broken = { status: c.status, text: textOf(c.lastMessage) };
    c.transport.headers = headers;
    await c.resumeStream();
    return c;
  },
  // The stream ends in the middle as if it were whole; a reload shows all of it.
  async eof() {
    const c = chat({ 'x-test-eof': '6' });
    await c.sendMessage({ text: 'hello' });
    seen.broken = { status: c.status, text: textOf(c.lastMessage) };
    const again = chat();
    await load(again);
    await again.resumeStream();
    return again;
  },
  // Two clients see the same turn.
  async two() {
    const a = chat();
    const asking = a.sendMessage({ text: 'hello' });
    let b;
    for (let i = 0; i < 200; i++) {
      b = chat();
      await load(b).catch(() => {});
      if (b.messages.length > 0) break;
      await new Promise(r => setTimeout(r, 10));
    }
    await Promise.all([asking, b.resumeStream()]);
    seen.other = { text: textOf(b.lastMessage), count: b.messages.length, status: b.status };
    return a;
  },
  // Another client stops the turn.
  async stop() {
    const c = chat();
    const asking = c.sendMessage({ text: 'wait' });
    for (let i = 0; i < 200; i++) {
      const r = await fetch(`${url}/api/chat/${id}/stop`, { method: 'POST', headers });
      if (r.status === 202) break;
      await new Promise(r => setTimeout(r, 10));
    }
    await asking;
    return c;
  },
  // Reload after the end: nothing doubles.
  async reload() {
    await scenarios.ask();
    const c = chat();
    await load(c);
    const before = c.messages.length;
    await c.resumeStream();
    seen.before = before;
    return c;
  },
  // Ask once more for the same.
  async regenerate() {
    const c = await scenarios.ask();
    await c.regenerate();
    return c;
  },
};

const c = await scenarios[scenario]();
console.log(JSON.stringify({
  ...seen, status: c.status, count: c.messages.length, role: c.lastMessage?.role, text: textOf(c.lastMessage),
  parts: c.lastMessage?.parts.map(p => p.type + (p.state ? `:${p.state}` : '')), stored: (await stored()).map(m => `${m.role} ${textOf(m)}`),
}));
process.exit(0);
