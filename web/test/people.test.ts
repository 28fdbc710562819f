import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { after, before, test } from 'node:test';
import { Visitor, accessible, closeBrowser, freePort, org, password, Server } from './harness.ts';

let server: Server;
let admin: string;

before(async () => {
  server = await Server.start();
  admin = await server.person('admin', 'Ada Quill');
});

after(async () => {
  await closeBrowser();
  await server.close();
});

// clean is what every page must be: no fault, nothing fetched from elsewhere, no serious fault for those who can't see it.
async function clean(v: Visitor, name: string) {
  assert.deepEqual(await accessible(v.page), [], `${name}: axe-core`);
  assert.deepEqual(v.faults, [], `${name}: faults`);
  assert.deepEqual(v.foreign(), [], `${name}: requests elsewhere`);
  await v.shot(name);
}

test('signing in says what is wrong at the field, and leads back to where somebody was', async () => {
  const v = await Visitor.of(server);
  await v.page.goto('/account/keys');
  await v.page.waitForURL('**/signin?to=%2Faccount%2Fkeys');
  await clean(v, 'people-signin');
  await v.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await v.page.getByText('The e-mail address is missing').waitFor();
  await v.page.getByLabel('E-mail').fill(admin);
  await v.page.getByLabel('Password').fill('something else entirely');
  await v.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const wrong = v.page.getByText('The e-mail address or the password is wrong', { exact: false });
  await wrong.waitFor();
  assert.equal(await v.page.getByLabel('Password').getAttribute('aria-invalid'), 'true');
  await clean(v, 'people-signin-wrong');
  await v.page.getByLabel('Password').fill(password);
  await v.page.getByLabel('Password').press('Enter');
  await v.page.waitForURL('**/account/keys');
  const cookies = await v.context.cookies();
  const session = cookies.find((c) => c.name === 'bordereau');
  assert.equal(session?.httpOnly, true);
  assert.equal(session?.sameSite, 'Lax');
  assert.equal(await v.page.evaluate('document.cookie'), '');
  await v.page.getByRole('button', { name: 'Sign out' }).click();
  await v.page.waitForURL('**/signin**');
  await v.close();
});

test('who has accounts in two organisations chooses one', async () => {
  const email = await server.person('underwriter', 'Robin Marsh');
  await server.member('seabright', 'Seabright Marine', email);
  const v = await Visitor.of(server);
  for (const name of ['Seabright Marine', org]) {
    await v.page.goto('/signin?to=%2Faccount');
    await v.page.getByLabel('E-mail').fill(email);
    await v.page.getByLabel('Password').fill(password);
    await v.page.getByLabel('Password').press('Enter');
    await v.page.getByText('fit several organisations').waitFor();
    await clean(v, 'people-organisations');
    await v.page.getByRole('button', { name: 'Back' }).click();
    assert.equal(await v.page.getByLabel('E-mail').inputValue(), email);
    await v.page.getByLabel('Password').press('Enter');
    await v.page.getByRole('button', { name, exact: true }).click();
    await v.page.waitForURL('**/account');
    await v.page.getByText(name, { exact: true }).first().waitFor();
    await v.page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await v.page.waitForURL('**/signin**');
  }
  await v.close();
});

test('an address outside of the pages is not where somebody is led', async () => {
  const v = await Visitor.of(server);
  for (const to of ['https://evil.example/', '//evil.example', 'javascript:alert(1)', '/\\evil.example']) {
    await v.page.goto(`/signin?to=${encodeURIComponent(to)}&error=<b>x</b>`);
    await v.page.getByText('Signing in failed. Try again.').waitFor();
    await v.page.getByLabel('E-mail').fill(admin);
    await v.page.getByLabel('Password').fill(password);
    await v.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await v.page.waitForURL(`${server.url}/chat`);
    await v.page.getByRole('button', { name: 'Sign out' }).click();
    await v.page.waitForURL('**/signin**');
  }
  assert.deepEqual(v.foreign(), []);
  await v.close();
});

test('somebody is invited, sets a password by the link, and the link is then dead', async () => {
  const v = await Visitor.of(server, admin);
  await v.page.goto('/people');
  await v.page.getByRole('button', { name: 'Invite' }).click();
  await v.page.getByLabel('E-mail').fill('not an address');
  await v.page.getByLabel('Name').fill('Kit Marlowe');
  await v.page.getByLabel('Role').selectOption('analyst');
  await v.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await v.page.getByText('this is no e-mail address').waitFor();
  await v.page.getByLabel('E-mail').fill(`kit@${org}.example`);
  await v.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  const link = await v.page.getByLabel('One-time link').inputValue();
  assert.ok(link.startsWith(`${server.url}/welcome#token=bdl_`), link);
  await clean(v, 'people-invited');
  await v.page.getByRole('button', { name: 'Done' }).click();
  await v.page.getByRole('row', { name: /Kit Marlowe.*invited/ }).waitFor();
  await clean(v, 'people-list');

  const kit = await Visitor.of(server);
  await kit.page.goto(link);
  await kit.page.getByRole('heading', { name: 'Welcome, Kit Marlowe' }).waitFor();
  assert.equal(kit.page.url(), `${server.url}/welcome`, 'the token stays in the address');
  await kit.page.getByLabel('New password').fill('password1234');
  await kit.page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await kit.page.getByText('it is easy to guess', { exact: false }).waitFor();
  await clean(kit, 'people-welcome');
  await kit.page.getByLabel('New password').fill(password);
  await kit.page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await kit.page.waitForURL('**/chat');
  await kit.page.goto('/people');
  await kit.page.getByText('This page is for administrators and auditors').waitFor();
  assert.equal(await kit.page.getByRole('link', { name: 'People' }).count(), 0);

  const late = await Visitor.of(server);
  await late.page.goto(link);
  await late.page.getByText('The link was used already, or is too old', { exact: false }).waitFor();
  await clean(late, 'people-welcome-used');

  // Her session ends at once when she is disabled; what she was at stays under a sign-in that refuses her.
  await kit.page.goto('/account');
  await v.page.reload();
  await v.page.getByRole('row', { name: /Kit Marlowe/ }).click();
  await v.page.getByText('Chrome on Linux').first().waitFor();
  await clean(v, 'people-person');
  await v.page.getByRole('button', { name: 'Disable' }).click();
  await v.page.getByText('Signed in nowhere.').waitFor();
  await kit.page.getByRole('link', { name: 'API keys' }).click();
  await kit.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await Promise.all([v.close(), kit.close(), late.close()]);
});

test('a session that ended asks for the password over the page, and goes on', async () => {
  const v = await Visitor.of(server, admin);
  await v.page.goto('/account');
  await v.page.getByLabel('Old password').fill('half typed');
  // The administrator ends it from elsewhere.
  const people = (await (await fetch(`${server.url}/api/people`, { headers: { Authorization: `Bearer ${await server.key('admin')}` } })).json()) as { people: { id: string; email: string }[] };
  const id = people.people.find((p) => p.email === admin)!.id;
  await fetch(`${server.url}/api/people/${id}/sessions`, { method: 'DELETE', headers: { Authorization: `Bearer ${await server.key('admin')}` } });
  await v.page.getByLabel('New password').fill('staple the wet tarmac');
  await v.page.getByRole('button', { name: 'Change the password' }).click();
  const dialog = v.page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Password').fill(password);
  await clean(v, 'people-expired');
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await v.page.getByLabel('Old password').inputValue(), 'half typed');
  await v.page.getByRole('button', { name: 'Change the password' }).click();
  await v.page.getByText('the old password is wrong').waitFor();
  await v.close();
});

test('signing in anew in one tab doesn’t break the other', async () => {
  const v = await Visitor.of(server, admin);
  await v.page.goto('/account/keys');
  await v.page.getByRole('button', { name: 'New key' }).click();
  const other = await v.tab();
  await other.goto('/chat');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.getByLabel('E-mail').fill(admin);
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.waitForURL('**/chat');
  await v.page.getByLabel('What is it for?').fill('two tabs');
  await v.page.getByRole('button', { name: 'Make the key' }).click();
  await v.page.getByRole('textbox', { name: 'API key' }).waitFor();
  await v.close();
});

test('a key is shown once, works for its scopes, and ends', async () => {
  const v = await Visitor.of(server, admin);
  await v.page.goto('/account/keys');
  await v.page.getByRole('button', { name: 'New key' }).click();
  await v.page.getByRole('button', { name: 'Make the key' }).click();
  await v.page.getByText('say what the key is for').waitFor();
  await clean(v, 'people-new-key');
  await v.page.getByLabel('What is it for?').fill('nightly script');
  await v.page.getByRole('button', { name: 'Make the key' }).click();
  const key = await v.page.getByRole('textbox', { name: 'API key' }).inputValue();
  await v.page.getByRole('button', { name: 'Done' }).click();
  const ask = (method: string) => fetch(`${server.url}/api/conversations`, { method, body: method === 'POST' ? '{}' : undefined, headers: { Authorization: `Bearer ${key}` } }).then((r) => r.status);
  assert.equal(await ask('GET'), 200);
  assert.equal(await ask('POST'), 403);
  await v.page.getByRole('row', { name: /nightly script.*live/ }).waitFor();
  await clean(v, 'people-keys');
  assert.ok(!(await v.page.content()).includes(key));
  await v.page.getByRole('button', { name: 'Revoke nightly script' }).click();
  await v.page.getByRole('row', { name: /nightly script.*revoked/ }).waitFor();
  assert.equal(await ask('GET'), 401);
  await v.close();
});

test('the account shows sessions and ends the others', async () => {
  const v = await Visitor.of(server, admin);
  const other = await Visitor.of(server, admin);
  await v.page.goto('/account');
  await v.page.getByText('this one').waitFor();
  await clean(v, 'people-account');
  await v.page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await v.page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor({ state: 'detached' });
  await other.page.reload();
  await other.page.waitForURL('**/signin**');
  await Promise.all([v.close(), other.close()]);
});

test('the admin log has it all, and ten thousand lines don’t weigh', async () => {
  const v = await Visitor.of(server, admin);
  await v.page.goto('/people/log');
  await v.page.getByText('sign-in refused').first().waitFor();
  await v.page.getByText('person disabled').first().waitFor();
  await v.page.getByRole('button', { name: 'Verify the log' }).click();
  await v.page.getByText(/^The chain holds: \d+ entries\.$/).waitFor();
  await clean(v, 'people-log');
  await v.page.route('**/api/admin-log**', async (route) => {
    const before = Number(new URL(route.request().url()).searchParams.get('before')?.split('-')[1] ?? 0);
    const entries = Array.from({ length: 500 }, (_, i) => ({ id: `x-${before + i + 1}`, at: new Date(0).toISOString(), actor: '', actorName: 'operator', action: 'key.issued', subject: '', detail: `<img src=x onerror=alert(1)> ${before + i + 1}`, address: '' }));
    await route.fulfill({ json: { entries, next: before < 9_500 ? `x-${before + 500}` : undefined } });
  });
  await v.page.reload();
  for (let lines = 500; lines < 10_000; lines += 500) {
    await v.page.getByText(`${lines.toLocaleString('en-US')} lines`, { exact: true }).waitFor();
    await v.page.getByRole('button', { name: 'Older lines' }).click();
  }
  await v.page.getByText('10,000 lines', { exact: true }).waitFor();
  const table = v.page.getByRole('table', { name: 'Admin log' });
  await table.evaluate((t) => (t.scrollTop = t.scrollHeight));
  await v.page.getByText('<img src=x onerror=alert(1)> 10000').waitFor();
  assert.ok((await table.getByRole('row').count()) < 80);
  assert.deepEqual(v.faults, []);
  await v.close();
});

test('dark, and on a phone', async () => {
  const email = await server.person('auditor', 'Noor Haddad');
  for (const visit of [{ dark: true }, { phone: true }, { phone: true, dark: true }]) {
    const name = `${visit.phone ? '-phone' : ''}${visit.dark ? '-dark' : ''}`;
    const out = await Visitor.of(server, undefined, visit);
    await out.page.goto('/signin');
    await out.page.getByLabel('E-mail').waitFor();
    await clean(out, `people-signin${name}`);
    await out.close();
    const v = await Visitor.of(server, email, visit);
    for (const page of ['/people', '/people/log', '/people/keys', '/account']) {
      await v.page.goto(page);
      await v.page.locator('.table-row, .sessions li').nth(1).or(v.page.getByText('this one')).first().waitFor();
      await clean(v, `${page.slice(1).replace('/', '-')}${name}`);
      assert.ok(await v.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${page} is wider than the window`);
    }
    assert.equal(await v.page.getByRole('button', { name: 'Invite' }).count(), 0, 'an auditor only looks');
    await v.close();
  }
});

// provider is an identity provider that signs with a key of its own. Who signs in there is what email says; '' is denied.
async function provider(): Promise<{ issuer: string; who: { email: string; verified: boolean }; close: () => void }> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const b64 = (v: unknown) => Buffer.from(JSON.stringify(v)).toString('base64url');
  const nonces = new Map<string, string>();
  const who = { email: '', verified: true };
  const server = createServer((q, a) => {
    const at = new URL(q.url!, issuer);
    const json = (v: unknown) => a.setHeader('Content-Type', 'application/json').end(JSON.stringify(v));
    switch (at.pathname) {
      case '/.well-known/openid-configuration':
        return json({ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: ['RS256'] });
      case '/keys':
        return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
      case '/authorize': {
        const code = Math.random().toString(36).slice(2);
        nonces.set(code, at.searchParams.get('nonce')!);
        const back = new URL(at.searchParams.get('redirect_uri')!);
        back.searchParams.set('state', at.searchParams.get('state')!);
        back.searchParams.set(...((who.email ? ['code', code] : ['error', 'access_denied']) as [string, string]));
        return a.writeHead(302, { Location: back.href }).end();
      }
    }
    let body = '';
    q.on('data', (d: Buffer) => (body += d.toString()));
    q.on('end', () => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, sub: who.email, aud: 'bordereau', exp: now + 300, iat: now, nonce: nonces.get(new URLSearchParams(body).get('code')!), email: who.email, email_verified: who.verified, name: 'Sol Winter' };
      const signed = `${b64({ alg: 'RS256', kid: 'k' })}.${b64(claims)}`;
      json({ access_token: 'x', token_type: 'Bearer', id_token: `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}` });
    });
  });
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { issuer, who, close: () => server.close() };
}

test('single sign-on signs in, keeps the page, and says plainly what fails', async () => {
  const idp = await provider();
  // A proxy in front, as in life: the public address is known before the program has its own.
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  let behind = '';
  const proxy = createServer((q, a) => {
    const on = request(behind + q.url, { method: q.method, headers: q.headers }, (r) => r.pipe(a.writeHead(r.statusCode!, r.headers)));
    q.pipe(on);
  }).listen(port, '127.0.0.1');
  const sso = await Server.start({ config: `public_url: ${origin}\noidc:\n  - {organisation: ${org}, issuer: "${idp.issuer}", client_id: bordereau, domains: [${org}.example], default_role: analyst}\n` });
  behind = sso.url;
  try {
    const v = await Visitor.of(Object.assign(Object.create(sso) as Server, { url: origin }));
    await v.page.goto('/signin?to=%2Faccount');
    const button = v.page.getByRole('button', { name: 'Sign in with your organisation' });
    await button.waitFor();
    assert.equal(await button.isDisabled(), true);
    await v.page.getByLabel('E-mail').fill('sol@elsewhere.example');
    await button.click();
    await v.page.getByText('There is no single sign-on for that address', { exact: false }).waitFor();
    for (const [email, verified, text] of [
      ['', true, 'Your organisation’s sign-in let nobody in.'],
      [`sol@${org}.example`, false, 'has not verified your e-mail address'],
      ['sol@elsewhere.example', true, 'but have no account here'],
    ] as const) {
      Object.assign(idp.who, { email, verified });
      await v.page.getByLabel('E-mail').fill(`sol@${org}.example`);
      await button.click();
      await v.page.getByText(text, { exact: false }).waitFor();
    }
    await v.shot('people-oidc');
    Object.assign(idp.who, { email: `sol@${org}.example`, verified: true });
    await v.page.goto('/signin?to=%2Faccount');
    await v.page.getByLabel('E-mail').fill(`sol@${org}.example`);
    await button.click();
    await v.page.waitForURL(`${origin}/account`);
    await v.page.getByText('by the organisation’s sign-in', { exact: false }).waitFor();
    assert.deepEqual(v.faults, []);
    await v.close();
  } finally {
    await sso.close();
    proxy.close();
    idp.close();
  }
});
