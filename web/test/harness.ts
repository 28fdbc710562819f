import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

// The harness starts the real program on a data folder of its own and drives it with Debian's Chromium.

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, '../..');
const bin = process.env.BORDEREAU_BIN ?? join(root, 'build/bin/bordereau');
export const shots = join(root, 'build/screenshots');
mkdirSync(shots, { recursive: true });

export const org = 'northgate';
export const password = 'correct horse battery staple';

// freePort finds a port that nobody listens on.
export async function freePort(): Promise<number> {
  const s = createServer().listen(0, '127.0.0.1');
  await once(s, 'listening');
  const { port } = s.address() as { port: number };
  s.close();
  await once(s, 'close');
  return port;
}

// run runs a command of the program to its end and returns what it printed.
export async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(bin, args, { env: { ...process.env, ...env } });
  let out = '';
  let err = '';
  child.stdout.on('data', (d: Buffer) => (out += d.toString()));
  child.stderr.on('data', (d: Buffer) => (err += d.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`bordereau ${args.join(' ')} ended with ${code}:\n${err.slice(-4000)}`);
  return out;
}

export interface Reply {
  text?: string;
  thinking?: string;
  calls?: { id: string; name: string; input: unknown }[];
  fault?: string;
  times?: number;
  delay?: number; // nanoseconds before the first byte
  every?: number; // nanoseconds between two pieces of text
  piece?: number; // bytes of one piece
}

// ModelServer speaks the wire of a provider from a script that a test may change.
export class ModelServer {
  private child?: ChildProcess;
  private readonly folder = mkdtempSync(join(tmpdir(), 'bordereau-model-'));
  url = '';
  private port = 0;

  async play(replies: Reply[]): Promise<void> {
    await this.stop();
    this.port ||= await freePort();
    const script = join(this.folder, 'script.json');
    writeFileSync(script, JSON.stringify({ replies }));
    this.child = spawn(bin, ['modelserver', '-listen', `127.0.0.1:${this.port}`, '-script', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await until(this.child, 'model server on');
    this.url = `http://127.0.0.1:${this.port}/v1`;
  }

  async stop() {
    await end(this.child, 'SIGTERM');
    this.child = undefined;
  }

  async close() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface ServerOptions {
  model?: ModelServer; // offered as the model "openai", beside the playbook
  config?: string; // more lines of the configuration (YAML)
}

// Server is 'bordereau serve' on the sample organisations.
export class Server {
  readonly data = mkdtempSync(join(tmpdir(), 'bordereau-web-'));
  url = '';
  private child?: ChildProcess;
  private config = '';
  private readonly logged: string[] = [];

  static async start(options: ServerOptions = {}): Promise<Server> {
    const s = new Server();
    const [listen, governance] = [await freePort(), await freePort()];
    s.url = `http://127.0.0.1:${listen}`;
    s.config = join(s.data, 'config.yaml');
    await copySample(join(s.data, 'data'));
    const model = options.model ? `  openai: {model: scripted, base_url: "${options.model.url}"}\n` : '';
    writeFileSync(
      s.config,
      `data: ${join(s.data, 'data')}\nlisten: 127.0.0.1:${listen}\ngovernance: {listen: "127.0.0.1:${governance}"}\n` + `models:\n  default: playbook\n${model}${options.config ?? ''}`,
    );
    await s.up();
    return s;
  }

  async up(): Promise<void> {
    const child = spawn(bin, ['serve', '--config', this.config], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.stderr.on('data', (d: Buffer) => {
      this.logged.push(d.toString());
      if (this.logged.length > 1000) this.logged.splice(0, 500);
    });
    await until(child, 'Bordereau listens', () => this.log);
  }

  // log is the end of what the program logged.
  get log(): string {
    return this.logged.join('');
  }

  // kill ends the program as a crash does.
  kill = () => end(this.child, 'SIGKILL');

  async close() {
    await end(this.child, 'SIGTERM');
    clear(this.data);
  }

  // person makes a person with a password and returns her e-mail address.
  async person(role = 'underwriter', name = 'Robin Marsh'): Promise<string> {
    const email = `${role}-${Math.random().toString(36).slice(2, 8)}@${org}.example`;
    const admin = await this.key('admin');
    const response = await fetch(`${this.url}/api/people`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, name, role }),
    });
    if (!response.ok) throw new Error(`making a person: ${response.status} ${await response.text()}`);
    const made = (await response.json()) as { link: { url: string } };
    await this.redeem(made.link.url);
    return email;
  }

  // member makes another organisation, and somebody in it who may have an account elsewhere.
  async member(other: string, name: string, email: string): Promise<void> {
    await run(['organisation', 'add', other, '--name', name, '--config', this.config]);
    const printed = await run(['person', 'add', email, '--org', other, '--name', 'Robin Marsh', '--config', this.config]);
    await this.redeem(printed.split('\n')[0]!);
  }

  // redeem sets the password by a one-time link.
  private async redeem(link: string): Promise<void> {
    const token = decodeURIComponent(new URL(link, this.url).hash.slice('#token='.length));
    const redeemed = await fetch(`${this.url}/api/session/link`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token, password }) });
    if (!redeemed.ok) throw new Error(`redeeming a link: ${redeemed.status} ${await redeemed.text()}`);
  }

  private keys = new Map<string, string>();

  // key is an API key of somebody in a role.
  async key(role: string): Promise<string> {
    let key = this.keys.get(role);
    if (!key) {
      key = (await run(['key', '--config', this.config, '--org', org, '--email', `${role}-key@${org}.example`, '--role', role])).trim().split('\n').at(-1)!.trim();
      this.keys.set(role, key);
    }
    return key;
  }
}

// copySample copies the imported sample organisations, which are made once for all tests of a day.
async function copySample(to: string): Promise<void> {
  const made = join(tmpdir(), `bordereau-web-sample-${new Date().toISOString().slice(0, 10)}`);
  if (!existsSync(join(made, 'done'))) {
    rmSync(made, { recursive: true, force: true });
    const [listen, governance] = [await freePort(), await freePort()];
    mkdirSync(made, { recursive: true });
    const config = join(made, 'config.yaml');
    writeFileSync(config, `data: ${join(made, 'data')}\nlisten: 127.0.0.1:${listen}\ngovernance: {listen: "127.0.0.1:${governance}"}\n`);
    const child = spawn(bin, ['serve', '--config', config, '--sample'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    child.stderr.on('data', (d: Buffer) => (log += d.toString()));
    await until(child, 'Bordereau listens', () => log);
    await end(child, 'SIGTERM');
    writeFileSync(join(made, 'done'), '');
  }
  // Without what is left of sandboxes: a copy of a disk image has no holes, so each workspace would take its whole 2 GB.
  cpSync(join(made, 'data'), to, { recursive: true, filter: (from) => basename(from) !== 'sandboxes' });
}

// clear removes a data folder. Sandboxes outlive the program that made them, and their disks are mounted in it.
function clear(folder: string) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (Number(pid) !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder + '/')) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').flatMap((line) => line.split(' ')[1] ?? []);
  for (const mount of mounts.filter((m) => m.startsWith(folder + '/')).reverse()) spawnSync('umount', ['-l', mount]);
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch (e) {
    console.warn(`left behind: ${folder}: ${String(e)}`);
  }
}

// until waits for a line on a program's standard output.
async function until(child: ChildProcess, line: string, log = () => ''): Promise<void> {
  let out = '';
  await new Promise<void>((ready, failed) => {
    child.stdout!.on('data', (d: Buffer) => {
      out += d.toString();
      if (out.includes(line)) ready();
    });
    child.once('exit', (code) => failed(new Error(`ended with ${code} before "${line}":\n${out}\n${log().slice(-4000)}`)));
  });
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill(signal);
  await over;
}

let browser: Browser | undefined;

export async function theBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({
    // The headless shell has no windows to draw around the pages, and no graphics card is emulated: half the processor time.
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-software-rasterizer'],
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

export interface Visit {
  dark?: boolean;
  phone?: boolean;
}

// Visitor is a browser of its own, signed in, which notes everything that it asked for and every fault on its pages.
export class Visitor {
  readonly asked: string[] = []; // addresses of all requests
  readonly faults: string[] = []; // errors on the pages, refused by the policy or thrown

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly server: Server,
  ) {}

  static async of(server: Server, email?: string, visit: Visit = {}): Promise<Visitor> {
    const b = await theBrowser();
    const context = await b.newContext({
      colorScheme: visit.dark ? 'dark' : 'light',
      viewport: visit.phone ? { width: 390, height: 844 } : { width: 1360, height: 860 },
      deviceScaleFactor: visit.phone ? 2 : 1,
      acceptDownloads: true,
      baseURL: server.url,
    });
    context.setDefaultTimeout(20_000);
    const v = new Visitor(context, await context.newPage(), server);
    v.watch(v.page);
    if (email) {
      await v.page.goto('/signin');
      await v.page.getByLabel('E-mail').fill(email);
      await v.page.getByLabel('Password').fill(password);
      await v.page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await v.page.waitForURL('**/chat');
    }
    return v;
  }

  // tab opens another page of the same browser.
  async tab(): Promise<Page> {
    const page = await this.context.newPage();
    this.watch(page);
    return page;
  }

  private watch(page: Page) {
    page.on('request', (r) => this.asked.push(r.url()));
    page.on('pageerror', (e) => this.faults.push(e.message));
    page.on('console', (m) => {
      if (m.type() === 'error' && !/Failed to load resource|net::ERR/.test(m.text())) this.faults.push(m.text());
    });
  }

  // foreign are the requests that left for anywhere but the program.
  foreign(): string[] {
    return this.asked.filter((u) => !u.startsWith(this.server.url + '/') && !u.startsWith('blob:' + this.server.url));
  }

  async shot(name: string, page = this.page) {
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }

  close = () => this.context.close();
}

const axeSource = readFileSync(join(root, 'web/node_modules/axe-core/axe.min.js'), 'utf8');

// accessible runs axe-core on the page as it is and returns its serious and critical faults.
export async function accessible(page: Page): Promise<string[]> {
  // Through the protocol: the pages' policy lets no script of a test in.
  const client = await page.context().newCDPSession(page);
  await client.send('Runtime.evaluate', { expression: axeSource });
  const { result } = await client.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(r => JSON.stringify(r.violations
      .filter(v => v.impact === 'serious' || v.impact === 'critical')
      .map(v => v.id + ': ' + v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? n.failureSummary ?? '')).join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await client.detach();
  return JSON.parse(String(result.value)) as string[];
}
