import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const out = 'dist/pages';

// compress lays a .gz beside each text file, so that the server compresses nothing while people wait.
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
        if (/\.(js|mjs|css|html|svg|json)$/.test(file)) {
          const path = join(out, file);
          writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        }
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compress()],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the content security policy lets no data: address through
    chunkSizeWarningLimit: 600, // the PDF reader, which loads when a PDF is opened
    manifest: true, // the test of the first load's size reads it
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8700' } },
});
