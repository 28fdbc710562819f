import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { accessible, closeBrowser, Server, Visitor } from './harness.ts';

// Schedules in a browser, over the real program, with mail received by a real SMTP server.

let server: Server;
let underwriter: string;
let refuse = false;
const mails: string[] = [];
const post = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo(_address, _session, done) {
    done(refuse ? Object.assign(new Error('no such mailbox here'), { responseCode: 550 }) : undefined);
  },
  onData(stream, _session, done) {
    let raw = '';
    stream.setEncoding('latin1');
    stream.on('data', (d: string) => (raw += d));
    stream.on('end', () => {
      mails.push(raw);
      done();
    });
  },
});

before(async () => {
  const listening = post.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  server = await Server.start({ config: `mail: {host: 127.0.0.1, port: ${port}, security: plain, from: "Bordereau <reports@northgate.example>"}\n` });
  underwriter = await server.person('underwriter', 'Robin Marsh');
});

after(async () => {
  await closeBrowser();
  await server?.close();
  await new Promise<void>((done) => post.close(done));
});

async function until(what: () => boolean | Promise<boolean>, ms: number, about: string) {
  for (const over = Date.now() + ms; !(await what()); ) {
    if (Date.now() > over) throw new Error(`${about}: not within ${ms} ms\n${server.log.slice(-3000)}`);
    await new Promise((go) => setTimeout(go, 200));
  }
}

test('a schedule fires and its mail is received; run now; a refusing server; pause', async () => {
  const v = await Visitor.of(server, underwriter);
  const { page } = v;
  await page.goto('/schedules');
  await page.getByText('No schedules yet').waitFor();
  await page.getByRole('link', { name: 'New schedule' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Morning check');
  await page.getByLabel('Task').fill('Reconcile all submissions from today against carrier guidelines and report discrepancies');
  const cron = page.getByLabel('Cron line');
  await cron.fill('30 25 * * mon-fri');
  await page.getByText('The hour "25" is wrong. It takes 0 to 23').waitFor();
  await v.shot('schedules-wrong-line');
  await page.getByLabel('Time zone').fill('America/New_York');
  await cron.fill('30 6 * * mon-fri');
  const next = page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
  await until(async () => (await next.count()) === 5, 5000, 'five next runs');
  assert.match(await next.first().innerText(), /06:30/);

  // An address of nobody is refused beside the list of addresses.
  await page.getByRole('button', { name: 'Add' }).first().click();
  const kind = page.getByLabel('Send the report to: kind 1');
  await kind.selectOption('email');
  await page.getByLabel('Send the report to: address 1').fill('stranger@elsewhere.example');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('is nobody of the organisation').waitFor();
  await page.getByLabel('Send the report to: address 1').fill(underwriter);
  assert.deepEqual(await accessible(page), []);
  await v.shot('schedules-editor');

  await cron.fill('* * * * *');
  await page.getByLabel('Time zone').fill('UTC');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Morning check' }).waitFor();
  await until(() => mails.length > 0, 150_000, 'the first mail');
  assert.match(mails[0]!, /^Subject: Morning check, .* UTC\r$/m);
  assert.match(mails[0]!, new RegExp(`^To: <${underwriter.replace('.', '\\.')}>`, 'm'));
  assert.match(mails[0]!, /filename="?[^"\r]+\.xlsx/);
  assert.match(mails[0]!, /filename="?[^"\r]+\.pdf/);

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Nothing runs by the clock until it is resumed').waitFor();
  const runs = page.getByRole('list', { name: 'Runs' });
  await until(async () => (await runs.locator('> [data-state="running"]').count()) === 0, 120_000, 'the end of what runs');
  await runs.getByText('sent', { exact: true }).first().waitFor();
  assert.ok((await runs.getByRole('link', { name: /\.xlsx$/ }).count()) > 0);
  assert.deepEqual(await accessible(page), []);
  await v.shot('schedules-one');

  const before = await runs.locator('> li').count();
  refuse = true;
  await page.getByRole('button', { name: 'Run now' }).click();
  await until(async () => (await runs.locator('> li').count()) === before + 1, 10_000, 'the run');
  const latest = runs.locator('> li').first();
  await latest.getByText('run by hand').waitFor();
  await latest.getByText(/refused the recipient: 550 no such mailbox here/).waitFor({ timeout: 120_000 });
  await v.shot('schedules-refused');
  refuse = false;
  const had = mails.length;
  await latest.getByRole('button', { name: 'Try again' }).click();
  await until(() => mails.length === had + 1, 20_000, 'the mail after the second try');
  await latest.getByText('sent', { exact: true }).waitFor();

  await page.goto('/schedules');
  await page.getByRole('table', { name: 'Schedules' }).getByText('paused').waitFor();
  assert.deepEqual(await accessible(page), []);
  await v.shot('schedules-list');
  assert.deepEqual(v.faults, []);
  assert.deepEqual(v.foreign(), []);
  await v.close();
});

test('on a phone, in the dark', async () => {
  const v = await Visitor.of(server, underwriter, { dark: true, phone: true });
  await v.page.goto('/schedules');
  await v.page.getByRole('link', { name: 'Morning check' }).click();
  await v.page.getByRole('list', { name: 'Runs' }).waitFor();
  assert.deepEqual(await accessible(v.page), []);
  await v.shot('schedules-phone');
  await v.close();
});
