/** Build time only: builds the npm package `gatehouse` as ES modules and CommonJS with types, byte-for-byte reproducibly. */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import ts from 'typescript';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dir, '../..');

/** Entry points by the name that follows `gatehouse/`; the main one is `.`. */
export const ENTRIES = {
  '.': 'gatehouse',
  './express': 'express',
  './fastify': 'fastify',
  './hono': 'hono',
  './elysia': 'elysia',
  './react': 'react',
  './next': 'next',
  './react-router': 'react-router',
  './sign-in': 'sign-in',
  './device-login': 'device-login',
  './testing': 'testing',
} as const;
type Entry = (typeof ENTRIES)[keyof typeof ENTRIES];

/** Entry points that use Node’s own modules. */
const NODE_ENTRIES: readonly Entry[] = ['testing'];

/** Entry points whose components run in browsers, which servers that render React read from the first line. */
const CLIENT_ENTRIES: readonly Entry[] = ['react'];

/** Packages that an entry point works with; whoever imports it has them. */
const PEERS: Readonly<Record<string, string>> = { fastify: '>=4', hono: '>=4', next: '>=14', react: '>=18' };

/** Addresses of the project, which the product’s own manifest names once they are public. */
type Addresses = { readonly [Name in 'repository' | 'homepage' | 'bugs']?: unknown };
const { repository, homepage, bugs } = manifest as Addresses;

const PACKAGE = {
  name: manifest.name,
  version: manifest.version,
  description: 'Sign-in, session verification, webhooks and management with a Gatehouse server.',
  license: manifest.license,
  keywords: ['authentication', 'sign-in', 'sessions', 'webhooks', 'gatehouse'],
  ...(repository !== undefined && { repository }),
  ...(homepage !== undefined && { homepage }),
  ...(bugs !== undefined && { bugs }),
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  // For tools that do not read `exports`.
  main: './gatehouse.cjs',
  module: './gatehouse.js',
  types: './gatehouse.d.cts',
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([name, file]) => [
        name,
        {
          import: { types: `./${file}.d.ts`, default: `./${file}.js` },
          require: { types: `./${file}.d.cts`, default: `./${file}.cjs` },
        },
      ]),
    ),
    './package.json': './package.json',
  },
  ...(Object.keys(PEERS).length > 0 && {
    peerDependencies: PEERS,
    peerDependenciesMeta: Object.fromEntries(Object.keys(PEERS).map((name) => [name, { optional: true }])),
  }),
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
  for (const entry of Object.values(ENTRIES)) {
    const module = await bundled(entry);
    await write(`${entry}.js`, renamed(module, '.js'));
    await write(`${entry}.cjs`, commonJs(renamed(module, '.cjs')));
  }
  for (const file of await readdir(import.meta.dir)) {
    if (!file.endsWith('.ts') || file === basename(import.meta.path)) continue;
    const declarations = await declared(file);
    await write(file.replace(/\.ts$/, '.d.ts'), renamed(declarations, '.js'));
    await write(file.replace(/\.ts$/, '.d.cts'), renamed(declarations, '.cjs'));
  }
  const api = await Bun.file(join(import.meta.dir, 'generated', 'api.ts')).text();
  await write(
    'generated/api.d.cts',
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

/** Files whose exports the main entry point has. They stay external elsewhere, so that each error class exists once. */
const OF_MAIN = /^\.\/(?:gatehouse|errors|refusal|not-admitted|verifier|webhook)\.ts$/;

const EXTERNAL_MAIN: Bun.BunPlugin = {
  name: 'external-main',
  setup(build) {
    build.onResolve({ filter: OF_MAIN }, () => ({ path: './gatehouse.ts', external: true }));
  },
};

/** Bundles one module per entry, loadable in browsers; the others import what they share from the main one. */
async function bundled(entry: Entry): Promise<string> {
  const isMain = entry === ENTRIES['.'];
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, `${entry}.ts`)],
    root: import.meta.dir,
    target: NODE_ENTRIES.includes(entry) ? 'node' : 'browser',
    format: 'esm',
    external: Object.keys(PEERS),
    plugins: isMain ? [] : [EXTERNAL_MAIN],
    throw: false,
  });
  const [module] = outputs;
  if (!success || !module) throw new AggregateError(logs, `the client's ${entry} could not be bundled`);
  const code = await module.text();
  return CLIENT_ENTRIES.includes(entry) ? `'use client';\n${code}` : code;
}

/** Translates a module to CommonJS, with exports that `import` of Node finds too. */
function commonJs(module: string): string {
  const { outputText } = ts.transpileModule(module, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  return outputText;
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
  return outputText;
}

/** Renames the package’s own files in imports. The types of the API, by far the largest file, are there only once. */
function renamed(code: string, extension: '.js' | '.cjs'): string {
  return code.replace(/((?:from|import\()\s*['"])(\.\/[\w/-]+)\.ts(?=['"])/g, (_, before: string, path: string) => {
    return `${before}${path}${path === './generated/api' ? '.cjs' : extension}`;
  });
}
