/** The rules of the layout: which folder may import which, and which files may touch the outside world. */
import { describe, expect, test } from 'bun:test';
import { dirname, join, normalize } from 'node:path';

const SRC = join(import.meta.dir, '../../src');

interface Source {
  /** The path inside src, such as `http/errors.ts`. */
  readonly path: string;
  /** The text without comments, so that a mention of `Date.now` does not count as a use. */
  readonly code: string;
  readonly imports: readonly string[];
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

/** Type-only imports count as dependencies too. */
function importsOf(code: string): string[] {
  const statements =
    /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;(=])import\s*\(?\s*['"]([^'"]+)['"]/g;
  return [...code.matchAll(statements)].map(([, from, bare]) => (from ?? bare)!);
}

const sources: Source[] = await Promise.all(
  [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)]
    .filter((path) => !path.includes('/generated/'))
    .sort()
    .map(async (path) => {
      const code = withoutComments(await Bun.file(join(SRC, path)).text());
      return { path, code, imports: importsOf(code) };
    }),
);

const inFolder = (folder: string) => sources.filter(({ path }) => path.startsWith(`${folder}/`));

/** Returns the path in src of a relative import; `../…` for one outside src; null for a package. */
function target(path: string, specifier: string): string | null {
  if (specifier.startsWith('@/')) return specifier.slice(2);
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : null;
}

/** Returns the top folder, or the file itself if it is directly in src. */
const placeOf = (path: string) => (path.startsWith('..') ? path : path.split('/')[0]!);

/**
 * All files that run in a browser: the sources of the page scripts, without type imports and macros, which run only
 * at bundling.
 */
const inBrowser = new Set<string>();

/** Returns the imports that are left once types are erased and macros have run. */
function importsAtRunTime(code: string): string[] {
  return importsOf(
    code
      .replace(/(?:^|\n)(?:import|export) type [^'";]*['"][^'"]*['"];/g, '')
      .replace(/(?:^|\n)import [^'";]*['"][^'"]*['"] with \{ type: 'macro' \};/g, ''),
  );
}

function follow(path: string): void {
  const source = sources.find((one) => one.path === path);
  if (!source || inBrowser.has(path)) return;
  inBrowser.add(path);
  for (const specifier of importsAtRunTime(source.code)) {
    const to = target(path, specifier);
    if (to !== null) follow(to);
  }
}
for (const { path } of sources) if (/^(?:pages|console)\/.*entry\.tsx?$/.test(path)) follow(path);

/**
 * The folders of src that each folder may import besides itself. An unlisted folder fails until it is added. Files
 * directly in src wire everything together and may import anything.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  // Customers run it: it depends only on the types of the API.
  client: [],
  db: ['core'],
  backup: ['core', 'db'],
  store: ['core', 'db'],
  events: ['core', 'db', 'store'],
  i18n: ['core'],
  http: ['core', 'db', 'store'],
  outbound: ['core'],
  mail: ['core', 'db', 'i18n', 'store'],
  jobs: ['core', 'db', 'events', 'store'],
  pages: ['core', 'db', 'http', 'i18n', 'store'],
  console: ['core', 'db', 'http', 'i18n', 'pages'],
  // Composes what a thread runs, as the files directly in src do for the main thread.
  threads: ['core', 'db', 'http', 'modules', '(root)'],
  modules: ['backup', 'core', 'db', 'events', 'http', 'i18n', 'jobs', 'mail', 'outbound', 'store'],
  cli: [
    'backup',
    'client',
    'core',
    'db',
    'http',
    'i18n',
    'jobs',
    'mail',
    'modules',
    'outbound',
    'pages',
    'store',
    '(root)',
  ],
};

/** Exceptions to the rules, each with its reason. */
const IMPORT_EXCEPTIONS: Record<string, string> = {
  'client/package.ts → ../package.json': 'at build time alone: the version of the package is the product’s',
  'db/sqlite/migrate.ts → ../migrations/*': 'the migrations are embedded into the binary from here',
  'db/postgres/migrations.ts → ../migrations/*': 'the migrations are embedded into the binary from here',
};

function crossings(): string[] {
  const found: string[] = [];
  for (const { path, imports } of sources) {
    const folder = placeOf(path);
    if (folder === path) continue;
    for (const specifier of imports) {
      const to = target(path, specifier);
      if (to === null) continue;
      const place = placeOf(to);
      const isRoot = place === to && !to.startsWith('..');
      if (place === folder || MAY_IMPORT[folder]?.includes(isRoot ? '(root)' : place)) continue;
      found.push(`${path} → ${to.startsWith('../migrations/') ? '../migrations/*' : to}`);
    }
  }
  return found;
}

/**
 * Returns the names in circular dependencies: names that use no other remaining name are removed until none is left
 * to remove.
 */
function inCircles(uses: Map<string, Set<string>>): string[] {
  for (let isSmaller = true; isSmaller;) {
    const free = [...uses].filter(([, used]) => [...used].every((name) => !uses.has(name))).map(([name]) => name);
    for (const name of free) uses.delete(name);
    isSmaller = free.length > 0;
  }
  return [...uses.keys()];
}

describe('imports', () => {
  test('are detected', () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.find(({ path }) => path === 'core/secret.ts')?.imports).toEqual(['./random.ts']);
    expect(
      importsOf(
        "import a from 'x';\nexport { b } from './y.ts';\nawait import('z');\nimport 'w';\nimport type { T } from \"v\"",
      ),
    ).toEqual(['x', './y.ts', 'z', 'w', 'v']);
  });

  test('belong to folders with a rule', () => {
    const folders = new Set(sources.map(({ path }) => placeOf(path)).filter((place) => !place.endsWith('.ts')));
    expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
  });

  test('point in one direction: modules, http and cli → store → db → core', () => {
    expect([...new Set(crossings())].sort()).toEqual(Object.keys(IMPORT_EXCEPTIONS).sort());
  });

  test('core imports only packages, Node and itself, not even a type of another folder', () => {
    const outside = inFolder('core').flatMap(({ path, imports }) =>
      imports.map((specifier) => target(path, specifier)).filter((to) => to !== null && placeOf(to) !== 'core'),
    );
    expect(outside).toEqual([]);
  });

  test('only the router and the description import Elysia, so that its next major version touches nothing else', () => {
    const users = sources
      .filter(({ imports }) => imports.some((name) => name === 'elysia' || name.startsWith('@elysiajs/')))
      .map(({ path }) => path);
    expect(users).toEqual(['app.ts', 'modules/description/mounted.ts']);
  });

  test('only store/ and db/ import the SQL builder and the driver', () => {
    const users = sources.filter(
      ({ path, imports }) =>
        !/^(?:store|db)\//.test(path) &&
        imports.some((name) => name.startsWith('drizzle-orm') || name === 'bun:sqlite'),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  test('only db/sqlite/ imports the driver, and the data interface next to it imports nothing of that engine', () => {
    const isOfEngine = (path: string, name: string) =>
      name === 'bun:sqlite' ||
      name === 'drizzle-orm/bun-sqlite' ||
      (path.startsWith('db/') && target(path, name)?.startsWith('db/sqlite/') === true);
    const users = sources.filter(
      ({ path, imports }) => !path.startsWith('db/sqlite/') && imports.some((name) => isOfEngine(path, name)),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  test('only store/ imports statements and tables, so that nothing above knows how records are stored', () => {
    const isInside = (to: string) =>
      to === 'db/statements.ts' || to === 'db/lookups.ts' || to.startsWith('store/schema/');
    const users = sources.filter(
      ({ path, imports }) =>
        !/^(?:store|db)\//.test(path) && imports.some((specifier) => isInside(target(path, specifier) ?? '')),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
  });

  test('only db/ imports the engine’s internals; only dependencies.ts opens the data', () => {
    const OPEN = [
      'db/move/move.ts',
      'db/move/tables.ts',
      'db/postgres/errors.ts',
      'db/postgres/move-client.ts',
      'db/postgres/move-source.ts',
      'db/postgres/move-target.ts',
      'db/sqlite/move-source.ts',
      'db/sqlite/move-target.ts',
      'db/sqlite/backup.ts',
      'db/sqlite/running-server.ts',
      'db/sqlite/locks.ts',
      'db/sqlite/atomic-restore.ts',
      'db/database.ts',
      'db/database-server.ts',
      'db/late-commits.ts',
      'db/page.ts',
      'db/sqlite/data-folder.ts',
      'db/sqlite/ephemeral-folder.ts',
      'db/sqlite/file-system.ts',
      'db/errors.ts',
      'db/sqlite/flush.ts',
      'db/sqlite/find-instance.ts',
      'db/sqlite/folder-error.ts',
      'db/sqlite/instance-key-file.ts',
      'db/sqlite/wal-check.ts',
      'db/sqlite/migrate.ts',
      'db/no-database.ts',
      'db/postgres/open.ts',
      'db/postgres/ephemeral-database.ts',
      'db/postgres/examination.ts',
      'db/opened-data.ts',
      'db/postgres/address.ts',
      'db/sqlite/read-only.ts',
      'db/sqlite/open.ts',
      'db/lookups.ts',
      'db/statements.ts',
      'db/sqlite/unfinished-backup.ts',
      'db/sqlite/upgrade.ts',
      'db/sqlite/change-log.ts',
      'db/sqlite/thread-reader.ts',
    ];
    const users = sources.flatMap(({ path, imports }) =>
      imports
        .map((specifier) => target(path, specifier))
        .filter((to) => to?.startsWith('db/') && !path.startsWith('db/') && !OPEN.includes(to)),
    );
    expect(users).toEqual([]);
    const isOpen = (to: string | null) => to === 'db/sqlite/open.ts' || to === 'db/postgres/open.ts';
    const openers = sources
      .filter(({ path, imports }) => !path.startsWith('db/') && imports.some((s) => isOpen(target(path, s))))
      .map(({ path }) => path);
    expect(openers).toEqual(['dependencies.ts']);
  });

  test('the configuration imports only core and the parsers of its settings, so that every command can read it', () => {
    const reached = new Set(['config.ts']);
    for (const path of reached)
      for (const specifier of sources.find((one) => one.path === path)!.imports) {
        const to = target(path, specifier);
        if (to !== null) reached.add(to);
      }
    expect([...reached].filter((path) => !path.startsWith('core/')).sort()).toEqual([
      'backup/names.ts',
      'backup/place.ts',
      'backup/recipients.ts',
      'backup/schedule.ts',
      'config.ts',
      'db/postgres/address.ts',
      'http/limits.ts',
      'setting-text.ts',
      'settings.ts',
    ]);
  });

  test('the short path and its parts load neither router, pages, texts nor the SQL builder’s modules, so that a thread can run them', () => {
    const reached = new Set([
      'http/short-path.ts',
      'http/access-log.ts',
      'http/authenticate.ts',
      'http/body-reader.ts',
      'http/errors.ts',
      'http/host-check.ts',
      'http/raw-path.ts',
      'http/request-context.ts',
      'http/request-metrics.ts',
      'modules/verification/routes.ts',
      'modules/verification/service.ts',
      'modules/health/routes.ts',
      'modules/oauth/routes.ts',
      'modules/oauth/service.ts',
    ]);
    for (const path of reached)
      for (const specifier of importsAtRunTime(sources.find((one) => one.path === path)!.code)) {
        const to = target(path, specifier);
        if (to !== null && !to.startsWith('../')) reached.add(to);
      }
    const folders = new Set(
      [...reached].map((path) =>
        path
          .split('/')
          .slice(0, 2)
          .join('/')
          .replace(/\/[^/]+\.tsx?$/, ''),
      ),
    );
    expect([...folders].sort()).toEqual([
      'core',
      'db',
      'http',
      'modules/api-keys',
      'modules/devices',
      'modules/health',
      'modules/oauth',
      'modules/verification',
      'store',
      'store/schema',
    ]);
  });

  test('contain no cycle of modules', () => {
    const moduleOf = (path: string) => /^modules\/([^/]+)\//.exec(path)?.[1];
    const uses = new Map<string, Set<string>>();
    for (const { path, imports } of inFolder('modules')) {
      const from = moduleOf(path)!;
      const known = uses.get(from) ?? new Set();
      for (const specifier of imports) {
        const to = moduleOf(target(path, specifier) ?? '');
        if (to !== undefined && to !== from) known.add(to);
      }
      uses.set(from, known);
    }
    expect(inCircles(uses)).toEqual([]);
  });

  test('contain no cycle of files', () => {
    const uses = new Map(
      sources.map(({ path, imports }) => [
        path,
        new Set(imports.flatMap((specifier) => target(path, specifier) ?? [])),
      ]),
    );
    expect(inCircles(uses)).toEqual([]);
  });

  test('modules.ts imports every module', () => {
    const folders = inFolder('modules').map(({ path }) => path.split('/').slice(0, -1).join('/'));
    const rooms = [...new Set(folders)].filter((folder) => folder !== 'modules');
    const listed = sources.find(({ path }) => path === 'modules.ts')!.imports.map((name) => target('modules.ts', name));
    expect(rooms.filter((room) => !listed.includes(`${room}/module.ts`))).toEqual([]);
  });

  test('only store/ and db/ contain SQL', () => {
    const SQL = /[`'"]\s*(?:SELECT\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s)/;
    expect(
      sources.filter(({ path, code }) => !/^(?:store|db)\//.test(path) && SQL.test(code)).map(({ path }) => path),
    ).toEqual([]);
  });

  test('page scripts never import the server’s code', () => {
    expect([...inBrowser]).toEqual(expect.arrayContaining(['pages/sign-in/page.tsx', 'pages/browser/api.ts']));
    const isOfBoth = (path: string) => /^(?:pages|console|core)\//.test(path) || path === 'i18n/texts.ts';
    expect([...inBrowser].filter((path) => !isOfBoth(path))).toEqual([]);
    // Type imports count too: only from the pages, shared code and the catalogues.
    const known = sources
      .filter(({ path }) => inBrowser.has(path) || path.startsWith('pages/browser/'))
      .flatMap(({ path, imports }) => imports.map((specifier) => target(path, specifier)));
    expect(known.filter((to) => to !== null && !/^(?:pages|console|core|i18n)\//.test(to))).toEqual([]);
  });

  test('never come from the tests', () => {
    expect(sources.filter(({ imports }) => imports.some((name) => /(^|\/)test\//.test(name)))).toEqual([]);
  });
});

/** The files that wrap the outside world. Page scripts run in a browser and the client runs at customers. */
const isFree = (path: string) =>
  path === 'main.ts' || /^(?:cli|client)\//.test(path) || (/^(?:pages|console)\//.test(path) && inBrowser.has(path));

const WORLD: [name: string, pattern: RegExp, allowed: Record<string, string>][] = [
  ['the environment', /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b/, {}],
  [
    'the time',
    /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.timeOrigin\b|\bTemporal\.Now\b/,
    { 'core/clock.ts': 'the one source of time' },
  ],
  [
    'chance',
    /\bMath\.random\b|\bgetRandomValues\b|\brandomUUID\b|\brandomInt\b|\brandomBytes\b|\brandomFill/,
    { 'core/random.ts': 'the one source of randomness' },
  ],
  ['a UUID of the machine’s own time', /\brandomUUIDv[57]\b/, { 'core/id.ts': 'makes ids, of the time it is given' }],
  [
    'the network',
    /(?<![\w.#])fetch\s*\(|\bBun\.(?:connect|udpSocket|dns)\b|\bnew WebSocket\b|\bXMLHttpRequest\b/,
    {
      'app.ts': 'declares and defines the fetch handler of the app; calls none',
      'outbound/guarded-fetch.ts': 'the one way out, and guarded',
    },
  ],
  [
    'a process',
    /\bBun\.spawn|\bchild_process\b|\bBun\.\$|\beval\s*\(|\bnew Function\b/,
    { 'console/describe.ts': 'at build time alone: the product describes itself' },
  ],
];

describe('the outside world', () => {
  test.each(WORLD)('%s is used only in its wrapper', (_, pattern, allowed) => {
    const users = sources.filter(({ path, code }) => !isFree(path) && pattern.test(code)).map(({ path }) => path);
    expect(users.filter((path) => !(path in allowed))).toEqual([]);
    // An unnecessary exception must be removed.
    expect(Object.keys(allowed).filter((path) => !users.includes(path))).toEqual([]);
  });

  test('is never written to by console.*: only the log and the commands write output', () => {
    expect(sources.filter(({ code }) => /\bconsole\.\w+\(/.test(code)).map(({ path }) => path)).toEqual([]);
  });
});
