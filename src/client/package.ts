/** Build time only: builds the npm package `gatehouse`, two modules and their types, byte-for-byte reproducibly. */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import ts from 'typescript';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dir, '../..');
const ENTRIES = { '.': 'gatehouse', './testing': 'testing' } as const;

const PACKAGE = {
  name: manifest.name,
  version: manifest.version,
  description: 'Sign-in, session verification, webhooks and management with a Gatehouse server.',
  license: manifest.license,
  keywords: ['authentication', 'sign-in', 'sessions', 'webhooks', 'gatehouse'],
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: Object.fromEntries(
    Object.entries(ENTRIES).map(([name, file]) => [name, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
  ),
};

/** Builds the tarball in a folder and returns its path. The API types must be generated already. */
export async function packClient(destination: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-client-'));
  try {
    await fill(folder);
    await mkdir(destination, { recursive: true });
    await pack(folder, destination);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return join(destination, `${manifest.name}-${manifest.version}.tgz`);
}

async function fill(folder: string): Promise<void> {
  const write = (file: string, text: string) => Bun.write(join(folder, file), text);
  for (const entry of Object.values(ENTRIES)) await write(`${entry}.js`, await bundled(entry));
  for (const file of await readdir(import.meta.dir))
    if (file.endsWith('.ts') && file !== basename(import.meta.path))
      await write(file.replace(/\.ts$/, '.d.ts'), await declared(file));
  const api = await Bun.file(join(import.meta.dir, 'generated', 'api.ts')).text();
  await write(
    'generated/api.d.ts',
    api.replace(/^.*\n/, '/** The types of the API, generated from its description. */\n'),
  );
  await write('package.json', `${JSON.stringify(PACKAGE, null, 2)}\n`);
  await cp(join(import.meta.dir, 'README.md'), join(folder, 'README.md'));
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

async function pack(folder: string, destination: string): Promise<void> {
  const packing = Bun.spawn([process.execPath, 'pm', 'pack', '--quiet', '--destination', resolve(destination)], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const problems = await new Response(packing.stderr).text();
  if ((await packing.exited) !== 0) throw new Error(`the client could not be packed: ${problems}`);
}

/** Keeps `gatehouse` external in `testing`, so that each error class exists only once. */
const EXTERNAL_GATEHOUSE: Bun.BunPlugin = {
  name: 'external-gatehouse',
  setup: (build) => void build.onResolve({ filter: /^\.\/gatehouse\.ts$/ }, ({ path }) => ({ path, external: true })),
};

/** Bundles one module per entry, loadable in browsers; `testing` imports what it shares from `gatehouse`. */
async function bundled(entry: string): Promise<string> {
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, `${entry}.ts`)],
    root: import.meta.dir,
    target: entry === 'testing' ? 'node' : 'browser',
    format: 'esm',
    plugins: entry === 'testing' ? [EXTERNAL_GATEHOUSE] : [],
    throw: false,
  });
  const [module] = outputs;
  if (!success || !module) throw new AggregateError(logs, `the client's ${entry} could not be bundled`);
  return named(await module.text());
}

/** Generates declarations file by file, which requires explicit types on all exports. */
async function declared(file: string): Promise<string> {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(await Bun.file(join(import.meta.dir, file)).text(), {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, declaration: true, target: ts.ScriptTarget.ESNext, strict: true },
  });
  const [problem] = diagnostics;
  if (problem) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`);
  return named(outputText);
}

function named(code: string): string {
  return code.replace(/(from\s*['"]\.\/[\w/-]+)\.ts(['"])/g, '$1.js$2');
}
