import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './harness.ts';

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
}

const pages = join(root, 'web/dist/pages');
const manifest = JSON.parse(readFileSync(join(pages, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

// files are the scripts that a chunk loads at once, its own among them.
function files(name: string, into = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  assert.ok(chunk, `the build has no ${name}`);
  if (into.has(chunk.file)) return into;
  into.add(chunk.file);
  for (const i of chunk.imports ?? []) files(i, into);
  return into;
}

const zipped = (all: Set<string>) => [...all].filter((f) => f.endsWith('.js')).reduce((sum, f) => sum + statSync(join(pages, f + '.gz')).size, 0);

test('the first load of the chat is at most 200 kB of JavaScript', () => {
  const all = files('index.html');
  for (const f of files('src/chat/index.tsx')) all.add(f);
  const size = zipped(all);
  console.log(`first load of the chat: ${(size / 1000).toFixed(1)} kB gzipped in ${all.size} files`);
  assert.ok(size <= 200_000, `${size} bytes`);
});

test('each face is a chunk of its own, and what previews need loads with them', () => {
  const chat = files('src/chat/index.tsx');
  for (const face of ['schedules', 'console', 'people', 'guidelines']) assert.ok(!chat.has(manifest[`src/${face}/index.tsx`]!.file), face);
  for (const preview of ['Workbook', 'Pdf', 'Picture', 'Text']) assert.ok(!chat.has(manifest[`src/chat/preview/${preview}.tsx`]!.file), preview);
});

test('the page has no inline script or style', () => {
  const html = readFileSync(join(pages, 'index.html'), 'utf8');
  assert.ok(!/<script(?![^>]*\bsrc=)/.test(html), 'an inline script');
  assert.ok(!/<style|\sstyle=|\son\w+=/.test(html), 'an inline style or handler');
  assert.ok(existsSync(join(pages, 'theme.js')));
});
