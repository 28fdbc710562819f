import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessible, closeBrowser, Server, Visitor } from './harness.ts';

// Guidelines and runs in a browser, over the real program with the sample organisation.

let server: Server;
let underwriter: string;
let admin: string;
let run = '';
let submission = '';

before(async () => {
  server = await Server.start();
  underwriter = await server.person('underwriter', 'Robin Marsh');
  admin = await server.person('admin', 'Sam Teller');
  // One reconciliation, asked as a program asks: the answer's stream ends with the turn.
  const key = await server.key('admin');
  const head = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const text = 'Reconcile all submissions from today against carrier guidelines and report discrepancies';
  const asked = await fetch(`${server.url}/api/chat`, { method: 'POST', headers: head, body: JSON.stringify({ id: 'guidelines-test', message: { id: 'm1', role: 'user', parts: [{ type: 'text', text }] } }) });
  await asked.text();
  const runs = (await (await fetch(`${server.url}/api/runs`, { headers: head })).json()) as { runs: { id: string }[] };
  run = runs.runs[0]!.id;
  const found = (await (await fetch(`${server.url}/api/runs/${run}/findings`, { headers: head })).json()) as { findings: { submission_id: string }[] };
  submission = found.findings[0]!.submission_id;
});

after(async () => {
  await closeBrowser();
  await server?.close();
});

test('a guideline is drafted with checks, tried on a submission and published', async () => {
  const v = await Visitor.of(server, admin);
  const { page } = v;
  await page.goto('/guidelines');
  await page.getByRole('table', { name: 'Guidelines' }).getByRole('link', { name: 'alder@2026.2' }).click();
  await page.getByRole('table', { name: 'Rules' }).waitFor();
  await page.getByRole('button', { name: 'Draft a newer version' }).click();
  const text = page.getByRole('textbox', { name: 'Guideline' });
  const good = `schema: bordereau.guideline/1\nid: alder\ncarrier: alder\nname: Alder, stricter\nversion: "2026.9"\neffective: 2026-01-01\nextends: alder@2026.2\nparameters:\n  max_power_units: 1\n`;
  await text.fill(good.replace('max_power_units', 'max_power_unit'));
  const problem = page.getByRole('list', { name: 'Problems' }).getByRole('listitem').first();
  await problem.waitFor();
  assert.match(await problem.innerText(), /line \d+/);
  assert.deepEqual(await accessible(page), []);
  await v.shot('guidelines-problem');
  await text.fill(good);
  await page.getByText('Nothing wrong').waitFor();
  await page.getByRole('list', { name: 'Changes' }).getByText('max_power_units').waitFor();
  await page.getByLabel('Submission').fill(submission);
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('Decision:').waitFor({ timeout: 60_000 });
  await page.getByText('Decision:').scrollIntoViewIfNeeded();
  await v.shot('guidelines-editor');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Saved' }).waitFor();
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('heading', { name: 'alder@2026.9' }).waitFor();
  await page.goto('/guidelines');
  const row = page.getByRole('row', { name: /alder@2026\.9/ });
  await row.getByText('in force', { exact: true }).waitFor();
  assert.match(await row.innerText(), /Sam Teller/);
  assert.deepEqual(await accessible(page), []);
  await v.shot('guidelines-list');
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('an underwriter reads guidelines and writes none', async () => {
  const v = await Visitor.of(server, underwriter);
  await v.page.goto('/guidelines');
  await v.page.getByRole('table', { name: 'Guidelines' }).waitFor();
  assert.equal(await v.page.getByRole('button', { name: 'New draft' }).count(), 0);
  await v.close();
});

test('a finding is read with its evidence and reviewed', async () => {
  const v = await Visitor.of(server, admin);
  const { page } = v;
  await page.goto('/runs');
  await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click();
  const table = page.getByRole('table', { name: 'Findings' });
  await table.getByRole('row').nth(1).waitFor();
  assert.deepEqual(await accessible(page), []);
  await v.shot('runs-findings');
  await table.getByRole('row').nth(1).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('list', { name: 'Evidence' }).getByRole('link', { name: 'the query that read it' }).first().waitFor();
  await dialog.getByLabel('Disposition').selectOption('waived');
  await dialog.getByLabel('Comment').fill('Known to the carrier');
  assert.deepEqual(await accessible(page), []);
  await v.shot('runs-finding');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await table.getByText('waived').waitFor();
  await page.getByRole('search').getByLabel('Disposition').selectOption('waived');
  await page.getByText('1 finding', { exact: true }).waitFor();
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('dark, and on a phone', async () => {
  for (const visit of [{ dark: true }, { phone: true }, { phone: true, dark: true }]) {
    const v = await Visitor.of(server, admin, visit);
    const name = `${visit.phone ? '-phone' : ''}${visit.dark ? '-dark' : ''}`;
    for (const [path, shows] of [
      ['guidelines', 'Guidelines'],
      ['guidelines/alder@2026.2', 'Rules'],
      ['runs', 'Runs'],
      [`runs/${run}`, 'Findings'],
    ] as const) {
      await v.page.goto(`/${path}`);
      await v.page.getByRole('table', { name: shows, exact: true }).getByRole('row').nth(1).waitFor();
      await v.shot(`${shows.toLowerCase()}${name}`);
      assert.deepEqual(await accessible(v.page), [], `${path} ${name}`);
      assert.ok(await v.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} ${name} is wider than the window`);
    }
    assert.deepEqual(v.faults, []);
    await v.close();
  }
});
