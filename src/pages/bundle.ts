/** Build time only: bundles the pages' scripts and styles into compressed files, and lists them in a module. */

import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildChunks } from './console-chunks.ts';

const FOLDER = import.meta.dir;
const GENERATED = join(FOLDER, 'generated');

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
  { name: 'language.js', source: 'browser/language-entry.ts', contentType: JAVASCRIPT },
  { name: 'setup.js', source: 'setup/entry.ts', contentType: JAVASCRIPT },
  { name: 'sign-in.js', source: 'sign-in/entry.ts', contentType: JAVASCRIPT },
  { name: 'style.css', source: 'style/style.css', contentType: STYLE },
];

/** The console is split into chunks: each view's script loads with the view. */
const CONSOLE = { name: 'console.js', source: '../console/entry.tsx' };

/** Renderer of the API reference: a self-contained build, which the package's export map does not list. */
const REFERENCE = {
  name: 'reference.js',
  source: join(dirname(Bun.resolveSync('@scalar/api-reference', FOLDER)), 'browser', 'standalone.js'),
};

/** Above this size the maximum quality takes ten times as long and saves only a tenth. */
const LARGE_BYTES = 1024 * 1024;

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

interface Asset {
  /** Name for the pages; the file's own name for chunks, which are imported by path. */
  readonly name: string;
  /** Name in the address, with a hash of the content. */
  readonly file: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** Writes `generated/assets.ts` and its files deterministically, skipping unchanged ones. `bytes` is uncompressed. */
export async function bundlePages(): Promise<{ files: number; bytes: number }> {
  const bundled = await Promise.all(
    SOURCES.map(async ({ name, source, contentType }) => hashed(name, contentType, await bundle(join(FOLDER, source)))),
  );
  const assets = [...bundled, ...(await bundleConsole()), await reference()];
  await mkdir(GENERATED, { recursive: true });
  const written = await Promise.all(assets.map(write));
  await writeModule(written);
  const current = new Set(written.flatMap(({ files }) => files));
  for (const old of new Bun.Glob('*.{br,gz}').scanSync(GENERATED))
    if (!current.has(old)) await rm(join(GENERATED, old), { force: true });
  return { files: assets.length, bytes: assets.reduce((sum, { content }) => sum + content.byteLength, 0) };
}

async function bundle(path: string): Promise<Uint8Array> {
  if (path.endsWith('.svg')) return new TextEncoder().encode((await Bun.file(path).text()).trim());
  const result = await Bun.build({ ...BROWSER, entrypoints: [path] });
  const [output, ...more] = result.outputs;
  if (!output || more.length > 0) throw new Error(`${path} must bundle into one file`);
  return new Uint8Array(await output.arrayBuffer());
}

async function bundleConsole(): Promise<Asset[]> {
  const parts = (await buildChunks(join(FOLDER, CONSOLE.source), BROWSER)).map(async (output) => {
    const file = basename(output.path);
    const name = output.kind === 'entry-point' ? CONSOLE.name : file;
    return { name, file, contentType: JAVASCRIPT, content: new Uint8Array(await output.arrayBuffer()) };
  });
  return (await Promise.all(parts)).sort((one, other) => (one.file < other.file ? -1 : 1));
}

async function reference(): Promise<Asset> {
  const text = await Bun.file(REFERENCE.source).text();
  const content = new TextEncoder().encode(text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
  return hashed(REFERENCE.name, JAVASCRIPT, content);
}

function hashed(name: string, contentType: string, content: Uint8Array): Asset {
  const dot = name.lastIndexOf('.');
  return {
    name,
    file: `${name.slice(0, dot)}.${hashOf(content).slice(0, 8)}${name.slice(dot)}`,
    contentType,
    content,
  };
}

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex').slice(0, 16);

interface Written extends Asset {
  readonly hash: string;
  /** Names of the compressed files: brotli, gzip. */
  readonly files: readonly [string, string];
}

/** The files are named by content: an existing one is not compressed again. */
async function write(asset: Asset): Promise<Written> {
  const { file, content } = asset;
  const hash = hashOf(content);
  const brotliFile = `${file}.${hash}.br`;
  const gzipFile = `${file}.${hash}.gz`;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: content.byteLength > LARGE_BYTES ? 9 : 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
  };
  await writeOnce(brotliFile, () => promisify(brotliCompress)(content, { params }));
  await writeOnce(gzipFile, () => promisify(gzip)(content, { level: 9 }));
  return { ...asset, hash, files: [brotliFile, gzipFile] };
}

async function writeOnce(name: string, compress: () => Promise<Uint8Array>): Promise<void> {
  const path = join(GENERATED, name);
  if (!(await Bun.file(path).exists())) await Bun.write(path, await compress());
}

async function writeModule(assets: readonly Written[]): Promise<void> {
  const text = [
    '/** Written by src/pages/bundle.ts from the pages’ entries; do not edit. */',
    ...assets.flatMap(({ files: [brotli, gzip] }, index) => [
      `import brotli${index} from './${brotli}' with { type: 'file' };`,
      `import gzip${index} from './${gzip}' with { type: 'file' };`,
    ]),
    '',
    'export interface GeneratedAsset {',
    '  readonly path: string;',
    '  readonly contentType: string;',
    '  readonly etag: string;',
    '  /** Paths of the compressed files, next to this module or inside the binary. */',
    '  readonly brotli: string;',
    '  readonly gzip: string;',
    '}',
    '',
    'export const generatedAssets: Readonly<Record<string, GeneratedAsset>> = {',
    ...assets.map(({ name, file, contentType, hash }, index) => {
      const fields = `path: '/assets/${file}', contentType: '${contentType}', etag: '"${hash}"'`;
      return `  '${name}': { ${fields}, brotli: brotli${index}, gzip: gzip${index} },`;
    }),
    '};',
    '',
  ].join('\n');
  const file = Bun.file(join(GENERATED, 'assets.ts'));
  if (!(await file.exists()) || (await file.text()) !== text) await Bun.write(file, text);
}
