/** Sorts the test files by what they import: files that start processes, use a database, or have long cases. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSqliteOnly } from './one-engine.ts';

/** Modules that start processes, and clean up after each file that imports them. */
const STARTERS = ['test/support/binary.ts', 'test/support/browser.ts'];
const LONG = 'test/support/long.ts';
const DATABASE = 'test/support/database.ts';

/** Folders whose files run on both engines in `bun run test`; of the attacks only those that race. */
const ON_BOTH = ['store', 'modules', 'race'].map((name) => `test/${name}/`);
const ATTACKS = 'test/attack/';

/**
 * Files that run on PostgreSQL in `bun run test:postgres` alone: contracts, which concern few statements, modules with
 * many tests and few statements of their own, and tests of large changes.
 */
export const LESS_OFTEN = [
  'test/contract/',
  ...[
    'account',
    'activity',
    'api-keys',
    'applications',
    'description',
    'devices',
    'docs',
    'grants',
    'health',
    'i18n',
    'images',
    'import',
    'lifecycle',
    'mcp',
    'metrics',
    'oauth',
    'outbox',
    'passkeys',
    'profile',
    'provider',
    'seed',
    'stats',
    'workspace',
  ].map((name) => `test/modules/${name}/`),
  ...['beta/allowlist', 'beta/requests', 'live/hub', 'live/stream'].map((name) => `test/modules/${name}.test.ts`),
  ...['webhooks/hostile', 'webhooks/schedule', 'webhooks/targets'].map((name) => `test/modules/${name}.test.ts`),
  ...['guessing-codes', 'mail-budget', 'starvation'].map((name) => `test/attack/${name}.test.ts`),
];

/** Files that start first, so that none of them is still running alone at the end. */
const LONGEST = [
  'browser/console-accessibility',
  'browser/accessibility',
  'binary/damage',
  'client/examples/next',
  'browser/late-script',
  'binary/stop',
  'binary/cluster',
  'browser/console-users',
  'browser/gate-changes',
  'browser/waitlist-decisions',
  'binary/move',
  'binary/ephemeral',
  'browser/console-overview',
  'browser/console-shell',
  'browser/docs',
  'binary/crash',
  'binary/data-folder',
  'binary/images',
  'binary/backup',
  'attack/bodies',
].map((name) => `test/${name}.test.ts`);

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };
const known = new Map<string, readonly string[]>();

/** Returns the files in `test` that a file imports, except for types. */
function importsOf(path: string): readonly string[] {
  let imports = known.get(path);
  if (imports === undefined) {
    imports = transpilers[path.endsWith('x') ? 'tsx' : 'ts']
      .scanImports(readFileSync(path, 'utf8'))
      .filter(({ path: name }) => /^\.\.?\/.*\.tsx?$/.test(name))
      .map(({ path: name }) => join(path, '..', name))
      .filter((name) => name.startsWith('test/'));
    known.set(path, imports);
  }
  return imports;
}

function reachedFrom(path: string): Set<string> {
  const reached = new Set([path]);
  // Iteration includes files that are added during it.
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return reached;
}

/** Returns whether a test file starts processes, such as a browser. @param path relative to the repository. */
export function startsProcesses(path: string): boolean {
  const reached = reachedFrom(path);
  return STARTERS.some((starter) => reached.has(starter));
}

/**
 * Returns whether a test file runs on PostgreSQL. It opens a database in its own process, and no data folder.
 *
 * @param isEvery whether all such files run, or those of the most important folders.
 */
export function runsOnPostgres(path: string, isEvery: boolean): boolean {
  const isBelow = (folder: string) => path.startsWith(folder);
  const isChosen = isEvery || ((ON_BOTH.some(isBelow) || isRace(path)) && !LESS_OFTEN.some(isBelow));
  return isChosen && reachedFrom(path).has(DATABASE) && !startsProcesses(path) && !isSqliteOnly(path);
}

function isRace(path: string): boolean {
  return path.startsWith(ATTACKS) && readFileSync(path, 'utf8').includes('Promise.all(');
}

/** Returns whether a test file has cases that only `bun run test:long` runs. */
export function hasLongCases(path: string): boolean {
  return reachedFrom(path).has(LONG);
}

/** Sorts the longest files first. */
export function byDuration(first: string, second: string): number {
  const rank = (path: string) => (LONGEST.includes(path) ? LONGEST.indexOf(path) : LONGEST.length);
  return rank(first) - rank(second);
}
