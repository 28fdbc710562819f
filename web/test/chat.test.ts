import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessible, closeBrowser, Server, Visitor } from './harness.ts';

// The chat with the playbook model, which needs no key and answers the same each time.

const reconcile = 'Reconcile all submissions from today against carrier guidelines and generate a report flagging discrepancies';
const editRate = 'What percentage of extracted fields were edited by a human, per field per day, for June and July, for the Claims Intake workflow?';

let server: Server;
let email: string;
let visitor: Visitor;
let page: Page;
const folder = mkdtempSync(join(tmpdir(), 'bordereau-chat-'));

before(async () => {
  server = await Server.start();
  email = await server.person('underwriter', 'Robin Marsh');
  visitor = await Visitor.of(server, email);
  page = visitor.page;
});

after(async () => {
  await closeBrowser();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const box = (p: Page) => p.getByRole('textbox', { name: 'Your question' });

async function ask(p: Page, question: string) {
  await box(p).fill(question);
  await box(p).press('Enter');
}

const answered = (p: Page, ms = 120_000) => p.getByRole('button', { name: 'Ask again' }).last().waitFor({ timeout: ms });

test('an empty conversation offers questions, to keyboards and screen readers as well', async () => {
  await page.getByRole('heading', { name: /What should be looked into/ }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Your question');
  await visitor.shot('chat-empty');
  assert.deepEqual(await accessible(page), []);
});

test('a reconciliation: steps, findings with filters, a workbook and a PDF with previews', async () => {
  await ask(page, reconcile);
  await page.waitForURL(/\/chat\/[\w-]+$/);
  assert.ok(visitor.asked.some((u) => u.endsWith('/warm')), 'the focus on the box warmed nothing');
  await page.getByRole('list', { name: 'Steps' }).first().waitFor({ timeout: 60_000 });
  await visitor.shot('chat-working');
  await answered(page);

  const plan = page.getByRole('region', { name: 'Plan' });
  await plan.getByText('2 of 2 done').waitFor();

  // The gravest findings come with the answer, the others from the run: by scrolling and by filters.
  const findings = page.getByRole('region', { name: 'Findings', exact: true });
  const total = Number((await findings.getByRole('heading').innerText()).replace(/\D/g, ''));
  const table = findings.getByRole('table', { name: 'List of findings' });
  assert.equal(await table.getAttribute('aria-rowcount'), String(total + 1));
  assert.ok(total > 20 && (await table.getByRole('row').count()) === 21, `${total} findings`);
  const last = async () => {
    const row = table.getByRole('row').last();
    return Number(await row.getAttribute('aria-rowindex'));
  };
  for (const over = Date.now() + 30_000; (await last()) !== total + 1; ) {
    assert.ok(Date.now() < over, `row ${await last()} is the last of ${total}`);
    await table.evaluate((t) => (t.scrollTop = t.scrollHeight));
    await page.waitForTimeout(50);
  }
  assert.ok((await table.getByRole('row').count()) <= 201, 'all rows are drawn at once');
  await findings.scrollIntoViewIfNeeded();
  await visitor.shot('chat-findings-end');
  await table.evaluate((t) => (t.scrollTop = 0));
  await findings.getByRole('combobox', { name: 'Severity' }).selectOption('minor');
  await findings.getByRole('status').getByText(new RegExp(`^\\d+ of ${total} findings$`)).waitFor();
  for (const row of (await table.getByRole('row').allInnerTexts()).slice(1)) assert.match(row, /minor/);
  await findings.getByRole('combobox', { name: 'Severity' }).selectOption('');
  await findings.getByRole('searchbox', { name: 'Words in findings' }).fill('no finding says this');
  await findings.getByText('No finding fits these filters.').waitFor();
  await findings.getByRole('searchbox', { name: 'Words in findings' }).fill('');
  await table.getByRole('row').nth(1).waitFor();
  assert.match((await table.getByRole('row').nth(1).getByRole('link').getAttribute('href')) ?? '', /^\/runs\/.+\/F-\d+$/);

  const step = page.getByRole('button', { name: /^reconcile/ });
  await step.click();
  await page.locator('.step-detail:not([hidden])', { hasText: /\d s/ }).waitFor();
  assert.doesNotMatch(await step.innerText(), /\b0\.00 s/); // which is what the plan took, the call before
  assert.match((await page.locator('.step-detail:not([hidden]) a').first().getAttribute('href')) ?? '', /^\/console\/statements\//);
  await visitor.shot('chat-reconciled');
  assert.deepEqual(await accessible(page), []);

  // A finding leads to the statement that read it, whose record says who used its result: the turn, the run with its findings, the reports.
  const record = await visitor.tab();
  await record.goto((await table.getByRole('row').nth(1).getByRole('link').getAttribute('href'))!);
  await record.getByRole('dialog').getByRole('link', { name: 'the query that read it' }).first().click();
  const used = record.getByRole('region', { name: 'Used by' });
  assert.equal(await used.getByRole('link', { name: 'The turn that asked it' }).getAttribute('href'), new URL(page.url()).pathname);
  await used.getByRole('link', { name: /^Run of / }).waitFor();
  await used.getByRole('link', { name: 'discrepancies.xlsx' }).waitFor();
  await used.getByRole('link', { name: 'discrepancies.pdf' }).waitFor();
  await used.getByText(/\d findings? cites? it/).click();
  await record.evaluate(() => document.querySelector('[aria-label="Used by"]')?.scrollIntoView());
  await visitor.shot('console-used-by', record);
  await used.getByRole('link', { name: /^F-\d+$/ }).first().click();
  await record.getByRole('dialog', { name: /^Finding F-/ }).waitFor();
  await record.close();

  await page.getByRole('button', { name: 'Preview discrepancies.xlsx' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab').first().waitFor();
  assert.ok((await dialog.getByRole('tab').count()) > 1);
  assert.ok((await dialog.getByRole('row').count()) > 2);
  await visitor.shot('chat-workbook');
  assert.deepEqual(await accessible(page), []);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Preview discrepancies.pdf' }).click();
  await page.getByText(/Page 1 of \d+/).waitFor();
  await page.waitForFunction(() => (document.querySelector('.preview-page p')?.textContent ?? '').length > 50);
  await visitor.shot('chat-pdf');
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText(/Page 2 of/).waitFor();
  await page.keyboard.press('Escape');

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download discrepancies.xlsx' }).click();
  assert.equal((await download).suggestedFilename(), 'discrepancies.xlsx');
});

test('an edit rate: SQL and code in the steps, a picture, a question asked again', async () => {
  await page.getByRole('button', { name: 'New conversation' }).click();
  await ask(page, editRate);
  await page.getByRole('list', { name: 'Steps' }).first().waitFor({ timeout: 60_000 });
  await answered(page);
  const sql = page.getByRole('button', { name: /^sql/ }).first();
  await sql.click();
  await page.getByText('SQL', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Preview edit-rate.png' }).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll<HTMLImageElement>('.artifact-thumb img')].every((i) => i.naturalWidth > 0));
  await visitor.shot('chat-edit-rate');
  assert.deepEqual(await accessible(page), []);
  assert.equal(await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link').count(), 2);
});

test('a reload in mid-turn and a second tab show the same, once', async () => {
  await page.getByRole('button', { name: 'New conversation' }).click();
  await ask(page, reconcile);
  await page.waitForURL(/\/chat\/[\w-]+$/);
  const second = await visitor.tab();
  await second.goto(page.url());
  await page.reload();
  await Promise.all([answered(page), answered(second)]);
  await page.reload();
  await answered(page);
  const [a, b] = await Promise.all([texts(page), texts(second)]);
  assert.equal(await page.locator('.question').count(), 1);
  assert.equal(await page.locator('.answer').count(), 1);
  assert.deepEqual(a, b);
  await second.close();
});

test('a server that is killed and comes back in mid-turn loses nothing', async () => {
  await page.getByRole('button', { name: 'New conversation' }).click();
  await ask(page, editRate);
  await page.getByRole('list', { name: 'Steps' }).first().waitFor({ timeout: 60_000 });
  await server.kill();
  await page.getByRole('alert').getByText('The connection is lost').waitFor();
  await visitor.shot('chat-lost');
  await server.up();
  await answered(page);
  await page.getByRole('alert').getByText('The connection is lost').waitFor({ state: 'hidden' });
  const shown = await texts(page);
  assert.equal(await page.locator('.answer').count(), 1);
  await page.reload();
  await answered(page);
  assert.deepEqual(await texts(page), shown);
});

// slowed runs something while this page sends at 15 MB a second: on one machine an upload is over before its progress can be looked at.
async function slowed(run: () => Promise<void>) {
  const network = await page.context().newCDPSession(page);
  const limit = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await limit(15e6);
  await run();
  await limit(-1);
  await network.detach();
}

test('a file is dropped onto the conversation, sent with its progress, and can be taken off', async () => {
  await page.getByRole('button', { name: 'New conversation' }).click();
  await box(page).waitFor();
  // What a drag from the desktop gives to a page.
  const dragged = await page.evaluateHandle(() => {
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(30_000_000)], 'fleet.csv', { type: 'text/csv' }));
    files.items.add(new File(['unit,value\n1,2\n'], 'notes.csv', { type: 'text/csv' }));
    return files;
  });
  const target = page.getByRole('region', { name: 'Conversation', exact: true });
  await target.dispatchEvent('dragover', { dataTransfer: dragged });
  await page.getByText('Drop the files to attach them').waitFor();
  await visitor.shot('chat-drag');
  const attached = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
  await slowed(async () => {
    await target.dispatchEvent('drop', { dataTransfer: dragged });
    await page.getByText('Drop the files to attach them').waitFor({ state: 'hidden' });
    await attached.nth(1).waitFor();
    await page.getByRole('progressbar', { name: /^Sending fleet\.csv, \d+ %$/ }).waitFor();
  });
  await page.getByText('Files are being sent').waitFor({ state: 'hidden', timeout: 60_000 });
  assert.deepEqual((await attached.allInnerTexts()).map((text) => text.trim().split(/\s+/)[0]), ['fleet.csv', 'notes.csv']);
  await page.getByRole('button', { name: 'Remove fleet.csv' }).click();
  await ask(page, 'What can you do?');
  await answered(page);
  assert.deepEqual((await page.locator('.question li').allInnerTexts()).map((name) => name.trim()), ['notes.csv']);
});

test('a large file is chosen, sent with its progress, and named to the model', async () => {
  await page.getByRole('button', { name: 'New conversation' }).click();
  const large = join(folder, 'losses.csv');
  writeFileSync(large, 'unit,value\n' + `${randomBytes(32).toString('hex')}\n`.repeat(850_000)); // 55 MB
  const strange = join(folder, 'plan.dwg');
  writeFileSync(strange, randomBytes(1000));
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await slowed(async () => {
    await (await chooser).setFiles([large, strange]);
    await page.getByText('Nobody here can open .dwg files').waitFor();
    await page.getByRole('progressbar').first().waitFor();
    await visitor.shot('chat-upload');
    assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), true);
  });
  await page.getByText('Files are being sent').waitFor({ state: 'hidden', timeout: 60_000 });
  assert.deepEqual(await accessible(page), []);
  await ask(page, 'What can you do?');
  await answered(page);
  const names = await page.locator('.question li').allInnerTexts();
  assert.deepEqual(names.map((name) => name.trim()), ['losses.csv', 'plan.dwg']);
});

test('dark, and on a phone', async () => {
  const url = page.url();
  for (const visit of [{ dark: true }, { phone: true }, { phone: true, dark: true }]) {
    const v = await Visitor.of(server, email, visit);
    const name = `chat${visit.phone ? '-phone' : ''}${visit.dark ? '-dark' : ''}`;
    await v.shot(`${name}-empty`);
    await v.page.goto(url);
    const lists = v.page.getByRole('button', { name: 'Show conversations' });
    if (visit.phone) {
      await lists.click();
      await v.shot(`${name}-list`);
    }
    await v.page.getByRole('link', { name: /^Reconcile all submissions/ }).first().click();
    await answered(v.page);
    await v.page.getByRole('region', { name: 'Messages' }).evaluate((e) => (e.scrollTop = 0));
    await v.shot(name);
    assert.deepEqual(await accessible(v.page), []);
    assert.ok(await v.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the screen');
    await v.close();
  }
});

test('nothing was asked of anybody else, and no page failed', () => {
  assert.deepEqual(visitor.foreign(), []);
  assert.deepEqual(visitor.faults, []);
});

const texts = (p: Page) => p.locator('.question > p, .answer .prose').evaluateAll((all) => all.map((e) => e.textContent)).then((all) => [all[0], all.slice(1).join('\n')]);
