import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, Server, Visitor } from './harness.ts';

// A conversation of 2,000 messages, as long as the API would answer it.

const total = 2000;
let server: Server;
let visitor: Visitor;

before(async () => {
  server = await Server.start();
  visitor = await Visitor.of(server, await server.person());
});

after(async () => {
  await closeBrowser();
  await server.close();
});

const answer = (n: number) =>
  `Answer ${n}: **${n * 37} submissions**, of which ${n} are open.\n\n| field | edited |\n| --- | --- |\n${Array.from({ length: 5 + (n % 9) }, (_, i) => `| field ${i} | ${(n * i) % 100}.${n % 10}% |`).join('\n')}\n\n` + 'More words follow here. '.repeat(n % 23);

function message(position: number) {
  const user = position % 2 === 1;
  return {
    id: `m-${position}`,
    role: user ? 'user' : 'assistant',
    position,
    created: '2026-11-29T12:00:00Z',
    parts: user
      ? [{ type: 'text', text: `Question ${position}` }]
      : [{ type: 'text', text: answer(position), state: 'done' }, { type: 'data-outcome', id: 'outcome', data: { status: 'completed' } }],
  };
}

test('2,000 messages scroll without a stutter, and few of them are in the page', async () => {
  const { page } = visitor;
  const id = 'long-one';
  await page.route(`**/api/conversations/${id}**`, async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith('/turns')) return route.fulfill({ json: { turns: [] } });
    if (!url.pathname.endsWith('/messages')) return route.fulfill({ json: { id, person: 'x', title: 'A long one', created: '2026-11-29T12:00:00Z', updated: '2026-11-29T12:00:00Z' } });
    const from = Number(url.searchParams.get('after')) + 1;
    const messages = Array.from({ length: Math.max(0, Math.min(200, total - from + 1)) }, (_, i) => message(from + i));
    return route.fulfill({ json: { messages } });
  });
  const began = Date.now();
  await page.goto(`/chat/${id}`);
  await page.getByText(`Answer ${total}:`).waitFor();
  const opened = Date.now() - began;
  const region = page.getByRole('region', { name: 'Messages' });
  assert.ok(await region.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 80), 'it does not open at its end');

  const frames = await region.evaluate(async (e) => {
    const took: number[] = [];
    let last = performance.now();
    for (let i = 0; i < 240; i++) {
      e.scrollTop -= 220; // a fast wheel
      await new Promise((r) => requestAnimationFrame(r));
      const now = performance.now();
      took.push(now - last);
      last = now;
    }
    return took.sort((a, b) => a - b);
  });
  const at = (share: number) => frames[Math.floor(frames.length * share)]!.toFixed(1);
  const articles = await page.getByRole('article').count();
  console.log(`2,000 messages: opened in ${opened} ms; frames of scrolling p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${frames.at(-1)!.toFixed(1)} ms; ${articles} messages in the page`);
  assert.ok(articles < 60, `${articles} messages are in the page`);
  await visitor.shot('chat-long');

  await region.evaluate((e) => (e.scrollTop = 0));
  await page.getByText('Question 1', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'To the newest message' }).click();
  await page.getByText(`Answer ${total}:`).waitFor();
  assert.deepEqual(visitor.faults, []);
});
