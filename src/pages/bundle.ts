/** Build time only: bundles the hosted pages' scripts and styles into a module, under content-hashed names. */

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { bundleReference } from './bundle-reference.ts';

const FOLDER = import.meta.dir;
const GENERATED_FILE = join(FOLDER, 'generated', 'assets.ts');

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const SOURCES = [
  { name: 'account.js', source: 'account/entry.ts', contentType: JAVASCRIPT },
  { name: 'console-sign-in.js', source: '../console/sign-in-entry.ts', contentType: JAVASCRIPT },
  { name: 'console.css', source: '../console/style/style.css', contentType: STYLE },
  { name: 'device-code.js', source: 'device/code-entry.ts', contentType: JAVASCRIPT },
  { name: 'docs.css', source: 'docs/style/docs.css', contentType: STYLE },
  { name: 'docs.js', source: 'docs/entry.ts', contentType: JAVASCRIPT },
  { name: 'docs-reference.css', source: 'docs/style/reference.css', contentType: STYLE },
  { name: 'docs-reference.js', source: 'docs/reference-entry.ts', contentType: JAVASCRIPT },
  { name: 'device.js', source: 'device/entry.ts', contentType: JAVASCRIPT },
  { name: 'favicon.svg', source: 'favicon.svg', contentType: 'image/svg+xml' },
  { name: 'setup.js', source: 'setup/entry.ts', contentType: JAVASCRIPT },
  { name: 'sign-in.js', source: 'sign-in/entry.ts', contentType: JAVASCRIPT },
  { name: 'style.css', source: 'style/style.css', contentType: STYLE },
];

/** The console is split into chunks: each view's script loads when the view is first shown. */
const CONSOLE = { name: 'console.js', source: '../console/entry.tsx' };

/** Messages are precompiled, so the ICU parser is left out of every bundle. */
const withoutParser: Bun.BunPlugin = {
  name: 'without the parser of messages',
  setup(build) {
    build.onResolve({ filter: /^@formatjs\/icu-messageformat-parser$/ }, ({ path }) => ({
      path: Bun.resolveSync(`${path}/no-parser.js`, FOLDER),
    }));
  },
};

const BROWSER = {
  target: 'browser',
  format: 'esm',
  minify: true,
  sourcemap: 'none',
  env: 'disable',
  jsx: { development: false },
  // Drops the WebAuthn library's console messages for developers.
  drop: ['console'],
  plugins: [withoutParser],
} as const satisfies Partial<Bun.BuildConfig>;

const HEADER = `/** Written by src/pages/bundle.ts from the pages' entries; do not edit. */

export interface GeneratedAsset {
  path: string;
  contentType: string;
  identity: string;
  gzip: string;
  brotli: string;
  etag: string;
}

`;

/** Writes `generated/assets.ts` deterministically, if changed. `bytes` is the total size before compression. */
export async function bundlePages(): Promise<{ files: number; bytes: number }> {
  const assets: Record<string, Record<string, string>> = {};
  let bytes = 0;
  for (const { name, source, contentType } of SOURCES) {
    const content = await bundle(join(FOLDER, source));
    assets[name] = describe(name, contentType, content);
    bytes += content.byteLength;
  }
  for (const { name, path, content } of await bundleInParts(join(FOLDER, CONSOLE.source))) {
    assets[name ?? path] = { ...describe(path, JAVASCRIPT, content), path: `/assets/${path}` };
    bytes += content.byteLength;
  }
  const type = 'Record<string, GeneratedAsset>';
  await writeIfChanged(`${HEADER}export const generatedAssets: ${type} = ${JSON.stringify(assets, null, 2)};\n`);
  bytes += await bundleReference();
  return { files: Object.keys(assets).length, bytes };
}

async function bundle(path: string): Promise<Uint8Array> {
  if (path.endsWith('.svg')) return new TextEncoder().encode((await Bun.file(path).text()).trim());
  const result = await Bun.build({ ...BROWSER, entrypoints: [path] });
  const [output, ...more] = result.outputs;
  if (!output || more.length > 0) throw new Error(`${path} must bundle into one file`);
  return new Uint8Array(await output.arrayBuffer());
}

interface Part {
  /** Name of the entry chunk; null for the others, which are imported by path. */
  readonly name: string | null;
  readonly path: string;
  readonly content: Uint8Array;
}

/** Bundles with splitting. The bundler hashes the names, because chunks import each other by name. */
async function bundleInParts(entry: string): Promise<Part[]> {
  const naming = { entry: 'console.[hash].[ext]', chunk: 'console.[hash].[ext]' };
  const result = await Bun.build({ ...BROWSER, entrypoints: [entry], splitting: true, naming });
  const parts = result.outputs.map(async (output) => ({
    name: output.kind === 'entry-point' ? CONSOLE.name : null,
    path: basename(output.path),
    content: new Uint8Array(await output.arrayBuffer()),
  }));
  return (await Promise.all(parts)).sort((one, other) => (one.path < other.path ? -1 : 1));
}

function describe(name: string, contentType: string, content: Uint8Array): Record<string, string> {
  const hash = createHash('sha256').update(content).digest('hex');
  const dot = name.lastIndexOf('.');
  const brotli = brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
    },
  });
  return {
    path: `/assets/${name.slice(0, dot)}.${hash.slice(0, 8)}${name.slice(dot)}`,
    contentType,
    identity: Buffer.from(content).toString('base64'),
    gzip: gzipSync(content, { level: 9 }).toString('base64'),
    brotli: brotli.toString('base64'),
    etag: `"${hash.slice(0, 16)}"`,
  };
}

async function writeIfChanged(text: string): Promise<void> {
  const file = Bun.file(GENERATED_FILE);
  if ((await file.exists()) && (await file.text()) === text) return;
  await mkdir(join(GENERATED_FILE, '..'), { recursive: true });
  await Bun.write(file, text);
}
