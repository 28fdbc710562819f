import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessible, closeBrowser, Server, Visitor } from './harness.ts';

// The console in a browser, over the real program with the sample organisation.

let server: Server;
let analyst: string;
let underwriter: string;

before(async () => {
  server = await Server.start();
  analyst = await server.person('analyst', 'Avery Quill');
  underwriter = await server.person('underwriter', 'Robin Marsh');
});

after(async () => {
  await closeBrowser();
  await server?.close();
});

async function write(page: Page, sql: string) {
  await page.getByRole('textbox', { name: 'SQL', exact: true }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete'); // over a selection, Chromium would try to keep its style, which the policy refuses aloud
  await page.keyboard.insertText(sql);
}

async function ask(page: Page, sql: string) {
  await write(page, sql);
  await page.keyboard.press('Control+Enter');
}

const statements = (page: Page) => page.getByRole('list', { name: 'Statements' }).getByRole('listitem');
const result = (page: Page) => page.getByRole('table', { name: 'Result' });

test('a refused statement shows its rule, its place and how to rewrite it', async () => {
  const v = await Visitor.of(server, underwriter);
  const { page } = v;
  await page.goto('/console/sql');
  await ask(page, "SELECT name, license_number\nFROM main.drivers WHERE name = 'ü — Müller'");
  const refusal = page.getByRole('alert');
  await refusal.getByText('qualified_relation').waitFor();
  assert.match(await refusal.innerText(), /without schema|Name/);
  assert.equal(await page.locator('.cm-refused').innerText(), 'main');
  await v.shot('console-refused');
  await refusal.getByRole('link', { name: 'record', exact: true }).click();
  const record = page.getByRole('article');
  await record.getByText('refused', { exact: true }).waitFor();
  assert.equal(await record.locator('mark').innerText(), 'main');
  assert.ok(!(await record.innerText()).includes('Müller'), 'the record holds a value');
  assert.equal(await record.getByRole('button', { name: 'Explain' }).count(), 0);
  await v.shot('console-refused-record');
  await record.getByRole('button', { name: 'Copy to Run SQL' }).click();
  assert.match(page.url(), /\/console\/sql$/);
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('an accepted statement shows its rows, its plan and its record; it is exported and saved', async () => {
  const v = await Visitor.of(server, analyst);
  const { page } = v;
  await page.goto('/console/sql');
  await ask(page, "SELECT workflow, count(*) AS n, NULL AS nothing, '' AS empty, 12345678901234567890 AS big, 1.10 AS money FROM submissions GROUP BY 1 ORDER BY 1");
  await result(page).getByText('12345678901234567890').first().waitFor();
  assert.ok((await result(page).getByText('NULL', { exact: true }).count()) > 0);
  assert.ok((await result(page).getByText('“”').count()) > 0);
  assert.ok((await result(page).getByText('1.10', { exact: true }).count()) > 0);
  await v.shot('console-rows');

  await page.getByRole('button', { name: 'Show row 1', exact: true }).click();
  await page.getByRole('dialog').getByText('money').waitFor();
  await page.keyboard.press('Escape');

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8');
  assert.match(csv, /^workflow,n,nothing,empty,big,money\n.*,,"",12345678901234567890,1\.10\n/);

  await page.getByRole('button', { name: 'Explain' }).click();
  await page.locator('.plan').getByText('HASH_GROUP_BY').or(page.locator('.plan').getByText('PERFECT_HASH_GROUP_BY')).first().waitFor();

  await page.getByRole('button', { name: 'Saved' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name for the statement in the editor').fill('Workflows');
  await dialog.getByLabel('Share with the organisation').check();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('shared', { exact: true }).waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('link', { name: 'record', exact: true }).click();
  const record = page.getByRole('article');
  await record.getByText('answered').waitFor();
  for (const fact of ['submissions.workflow', 'Generation', 'Hash']) assert.ok((await record.getByText(fact).count()) > 0, fact);
  await record.getByRole('button', { name: 'Explain on its generation' }).click();
  await record.locator('.plan li').first().waitFor();
  await v.shot('console-record');
  assert.deepEqual(await accessible(page), []);

  await record.getByRole('link', { name: 'Compare with now' }).click();
  await page.getByLabel('Key columns').fill('workflow');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByText(/the same, 0 added, 0 removed, 0 changed/).waitFor();
  await page.getByLabel('SQL, or the id of a record').nth(0).fill('SELECT 1 AS k, 2 AS v UNION ALL SELECT 2, 3');
  await page.getByLabel('SQL, or the id of a record').nth(1).fill('SELECT 1 AS k, 9 AS v UNION ALL SELECT 3, 3');
  await page.getByLabel('Key columns').fill('k');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByText('0 the same, 1 added, 1 removed, 1 changed').waitFor();
  await v.shot('console-compare');
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('Escape cancels, and the record says so', async () => {
  const v = await Visitor.of(server, analyst);
  const { page } = v;
  await page.goto('/console/sql');
  await ask(page, 'SELECT count(*) FROM range(100000000000) a(i) WHERE hash(i) % 7 = 3');
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Cancelled.').waitFor();
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Statements' }).click();
  for (let i = 0; i < 40 && (await statements(page).first().getByText('interrupted').count()) === 0; i++) {
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.waitForTimeout(250);
  }
  await statements(page).first().getByText('interrupted').waitFor();
  await v.close();
});

test('names are completed as the role sees them', async () => {
  const v = await Visitor.of(server, underwriter);
  const { page } = v;
  await page.goto('/console/sql');
  await page.getByRole('button', { name: 'drivers', exact: true }).waitFor();
  await write(page, 'SELECT  FROM drivers');
  await page.keyboard.press('Home');
  for (let i = 0; i < 7; i++) await page.keyboard.press('ArrowRight');
  await page.keyboard.type('licen');
  const option = page.locator('.cm-tooltip-autocomplete li', { hasText: 'license_number' });
  await option.waitFor();
  assert.match(await option.innerText(), /masked: (last4\+)?token/);
  await v.shot('console-completion');
  await page.keyboard.press('Escape');
  await v.close();
});

test('filters stand in the address, and an underwriter sees her own statements alone', async () => {
  const v = await Visitor.of(server, analyst);
  const { page } = v;
  await page.goto('/console/statements');
  await statements(page).first().waitFor();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Decision').selectOption('refused');
  await page.getByLabel('Person').selectOption({ label: 'Robin Marsh' });
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/decision=refused/);
  const rows = statements(page);
  await rows.first().getByText('refused').waitFor();
  for (const text of await rows.allInnerTexts()) assert.match(text, /Robin Marsh/);
  await page.getByRole('button', { name: /Remove filter Decision/ }).click();
  await page.waitForURL((u) => !u.search.includes('decision'));
  await page.goto('/console/statements?relation=submissions&outcome=answered');
  await rows.first().waitFor();
  await v.shot('console-filtered');
  await rows.first().getByRole('link').click();
  await page.waitForURL(/statements\/[^?]+\?outcome=answered&relation=submissions|statements\/[^?]+\?relation=submissions&outcome=answered/);
  await page.getByRole('list', { name: 'Statements' }).focus();
  await page.keyboard.press('ArrowDown');
  assert.deepEqual(await accessible(page), []);
  await v.close();

  const own = await Visitor.of(server, underwriter);
  await own.page.goto('/console/statements');
  await statements(own.page).first().waitFor();
  for (const text of await statements(own.page).allInnerTexts()) assert.match(text, /Robin Marsh/);
  assert.equal(await own.page.getByRole('link', { name: 'Chain' }).count(), 0);
  await own.close();
});

test('the chain is verified with one click; policy and usage are shown', async () => {
  const v = await Visitor.of(server, analyst);
  const { page } = v;
  await page.goto('/console/chain');
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText(/The chain holds: [\d,]+ entries/).waitFor();
  await v.shot('console-chain');
  assert.deepEqual(await accessible(page), []);
  await page.getByLabel(/Hash kept/).fill('00');
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText(/does not hold/).waitFor();
  await page.getByRole('link', { name: 'Policy' }).click();
  await page.getByText('Role analyst, masked as standard').waitFor();
  await v.shot('console-policy');
  assert.deepEqual(await accessible(page), []);
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByLabel('By', { exact: true }).selectOption('person');
  await page.getByRole('table', { name: 'Usage by person' }).waitFor();
  assert.deepEqual(await accessible(page), []);
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('hostile SQL and values stay text', async () => {
  const v = await Visitor.of(server, analyst);
  const { page } = v;
  page.on('dialog', () => assert.fail('a script ran'));
  await page.goto('/console/sql');
  const attacks = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '<svg onload=alert(1)>', 'javascript:alert(1)', '![x](https://attacker.example/x.png)', '\u202e\u0000'.slice(0, 1) + 'txt'];
  const values = attacks.map((a) => `('${a}')`).join(', ');
  await ask(page, `SELECT v AS "<b onclick=alert(1)>name</b>" FROM (VALUES ${values}) t(v) /* </pre><script>alert(1)</script> */`);
  for (const a of attacks.slice(0, 5)) await result(page).getByText(a, { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Show row 1', exact: true }).click();
  await page.getByRole('dialog').getByText(attacks[0]!).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'record', exact: true }).click();
  await page.getByRole('article').getByText('answered').waitFor();
  await ask(page, `SELECT * FROM "<img src=x onerror=alert(2)>"`);
  await page.getByRole('alert').last().waitFor();
  await page.getByRole('link', { name: 'record', exact: true }).last().click();
  await page.getByRole('article').getByText('refused', { exact: true }).waitFor();
  assert.equal(await page.locator('img[src="x"], script:not([src]), svg[onload], a[href^="javascript"]').count(), 0);
  assert.deepEqual(v.foreign(), []);
  assert.deepEqual(v.faults, []);
  await v.close();
});

interface Scrolled {
  wheel: number; // ms of processor time that a frame costs the page's own thread, at the speed of a wheel
  leap: number; // the same when every row in sight is another in each frame
  empty: number; // the same of a box as large with nothing in it: what the browser itself costs
  median: number; // ms between two frames; it says more about the machine than about the page
  nodes: number; // elements in the box, at most
  blank: number; // frames without a row in sight
}

const steps = 60;

// scroll goes through a box, at the speed of a wheel and then in leaps, and through an empty one over it.
async function scroll(page: Page, box: string, row: string): Promise<Scrolled> {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => (await client.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')!.value * 1000;
  const through = async (selector: string, by: number) => {
    const before = await spent();
    const seen = await page.evaluate(
      async ({ selector, row, steps, by }) => {
        const el = document.querySelector(selector)!;
        const times: number[] = [];
        let [blank, nodes] = [0, 0];
        let last = await new Promise<number>(requestAnimationFrame);
        for (let i = 0; i < steps; i++) {
          el.scrollTop += by;
          const now = await new Promise<number>(requestAnimationFrame);
          times.push(now - last);
          last = now;
          const b = el.getBoundingClientRect();
          if (!document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2)?.closest(row)) blank++;
          nodes = Math.max(nodes, el.getElementsByTagName('*').length);
        }
        times.sort((a, b) => a - b);
        return { median: times[times.length >> 1]!, blank, nodes };
      },
      { selector, row, steps, by },
    );
    return { ...seen, cost: ((await spent()) - before) / steps };
  };
  const wheel = await through(box, 120);
  const leap = await through(box, 9000);
  await page.evaluate((box) => {
    const el = document.querySelector(box)!;
    const b = el.getBoundingClientRect();
    const empty = document.createElement('div');
    empty.className = 'scrolls-empty';
    Object.assign(empty.style, { position: 'fixed', left: `${b.left}px`, top: `${b.top}px`, width: `${b.width}px`, height: `${b.height}px`, overflow: 'auto', background: 'white', zIndex: '99' });
    empty.appendChild(document.createElement('div')).style.height = `${el.scrollHeight}px`;
    document.body.append(empty);
  }, box);
  const { cost: empty } = await through('.scrolls-empty', 9000);
  await page.evaluate(() => document.querySelector('.scrolls-empty')!.remove());
  await client.detach();
  return { wheel: wheel.cost, leap: leap.cost, empty, median: wheel.median, nodes: Math.max(wheel.nodes, leap.nodes), blank: wheel.blank + leap.blank };
}

test('ten thousand statements and a hundred thousand rows scroll without a stutter', async () => {
  const key = await server.key('admin');
  let left = 10_000;
  const worker = async () => {
    while (left-- > 0) {
      await fetch(`${server.url}/api/console/query`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ sql: `SELECT ${left} AS n; SELECT 2` }),
      }).then((r) => r.arrayBuffer());
    }
  };
  const begun = Date.now();
  await Promise.all(Array.from({ length: 8 }, worker));
  console.log(`10,000 statements recorded in ${((Date.now() - begun) / 1000).toFixed(1)} s`);

  const v = await Visitor.of(server, analyst);
  const { page } = v;
  await page.goto('/console/statements');
  await statements(page).first().waitFor();
  const list = page.getByRole('list', { name: 'Statements' });
  for (let i = 0; i < 600; i++) {
    const n = await list.evaluate((el) => {
      el.scrollTop = el.scrollHeight;
      return el.scrollHeight / 58;
    });
    if (n >= 10_000) break;
    await page.waitForTimeout(50);
  }
  await list.evaluate((el) => (el.scrollTop = 0));
  const list10k = await scroll(page, '.statements', '.statement-row');

  await page.goto('/console/sql');
  await ask(page, "SELECT i AS id, 'row ' || i AS label, i * 1.25 AS money, DATE '2026-01-01' + (i % 365)::INT AS day, hash(i) AS h FROM range(100000) r(i)");
  await page.getByRole('button', { name: /Load up to/ }).click();
  await page.getByText(/100,000 rows ·/).waitFor({ timeout: 60_000 });
  const rows = await scroll(page, '.result', '.result-line');
  const rounded = (s: Scrolled) => Object.entries(s).map(([k, n]: [string, number]) => `${k} ${n.toFixed(1)}`).join(', ');
  console.log(`a frame of scrolling: 10,000 statements: ${rounded(list10k)}; 100,000 rows: ${rounded(rows)}`);
  for (const s of [list10k, rows]) {
    assert.ok(s.nodes < 700, `${s.nodes} elements are drawn`);
    assert.ok(s.blank <= 6, `${s.blank} frames without a row`);
    assert.ok(s.wheel < 100 && s.leap < 100, 'drawing the rows of a frame takes a tenth of a second'); // a busy machine takes five times what an idle one does
  }
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('dark and on a phone, without serious faults of access', async () => {
  for (const visit of [{ dark: true }, { phone: true }, { phone: true, dark: true }]) {
    const v = await Visitor.of(server, analyst, visit);
    const name = `${visit.phone ? 'phone' : 'desk'}${visit.dark ? '-dark' : ''}`;
    for (const path of ['statements?outcome=answered', 'sql', 'compare', 'chain', 'policy', 'usage']) {
      await v.page.goto(`/console/${path}`);
      await v.page.getByRole('heading', { name: 'Console' }).or(v.page.getByRole('navigation', { name: 'Console' })).first().waitFor();
      await v.page.waitForLoadState('networkidle');
      if (path === 'sql') {
        await ask(v.page, 'SELECT * FROM submissions ORDER BY received_at DESC LIMIT 200');
        await result(v.page).getByRole('row').nth(3).waitFor();
      }
      const page = path.split('?')[0];
      await v.shot(`console-${page}-${name}`);
      assert.deepEqual(await accessible(v.page), [], `${page} ${name}`);
      if (page === 'statements') {
        await statements(v.page).first().getByRole('link').click();
        await v.page.getByRole('article').waitFor();
        await v.shot(`console-statement-${name}`);
        assert.deepEqual(await accessible(v.page), [], `statement ${name}`);
      }
      const wide = await v.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      assert.ok(!wide, `${page} ${name} is wider than the window`);
    }
    assert.deepEqual(v.faults, []);
    await v.close();
  }
});
