/** State in memory that outlives a request is listed in `src/single-process.ts`, with its rule for several instances. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import ts from 'typescript';
import { PROCESS_STATE } from '@/single-process.ts';

const SRC = join(import.meta.dir, '../../src');

/** Code of commands, browsers and customers, which runs in separate processes. */
const ELSEWHERE = /^(?:client|console|pages|cli)\/|\/generated\//;

/** Collections that grow, built-in and our own. */
const MAKES_STATE =
  /^new (?:Map|Set|WeakMap|WeakSet|BigMap|TimesById|Float64Array)\b|^(?:pool|recentSet|streamHub)\b|^\[\]$/;

const LIMIT = 'a limit that protects this process';
const CACHE = 'a cache of what no commit changes';
const OWN = 'connections, threads, timers or metrics of this process';

/** Collections that do not concern other instances, each with its reason. */
const EXEMPT: Record<string, string> = {
  'config.ts': 'of one start',
  'core/lease-keeper.ts': 'a collection for others, which are listed',
  'core/metrics.ts': OWN,
  'core/pool.ts': 'a collection for others, which are listed',
  'core/recent-set.ts': 'a collection for others, which are listed',
  'db/commit-listeners.ts': OWN,
  'db/postgres/connection.ts': CACHE,
  'db/postgres/lookups.ts': CACHE,
  'db/postgres/pool.ts': OWN,
  'db/sqlite/connection.ts': OWN,
  'db/sqlite/durability.ts': OWN,
  'db/sqlite/lookups.ts': CACHE,
  'db/sqlite/worker-client.ts': OWN,
  'db/sqlite/write-queue.ts': OWN,
  'db/unit.ts': 'of one change',
  'events/emit.ts': 'of one change',
  'http/access-log.ts': CACHE,
  'http/answer-headers.ts': CACHE,
  'http/body-pool.ts': LIMIT,
  'http/compression.ts': CACHE,
  'http/listener.ts': OWN,
  'http/host-check.ts': 'filled once, from the settings',
  'http/internal-calls.ts': 'of one request',
  'http/request-metrics.ts': OWN,
  'http/request-queue.ts': LIMIT,
  'http/request-slots.ts': LIMIT,
  'http/slow-bodies.ts': LIMIT,
  'http/stream-hub.ts': 'a collection for others, which are listed',
  'http/stream-slots.ts': LIMIT,
  'http/upload.ts': LIMIT,
  'http/validate.ts': 'of one body',
  'i18n/catalogue.ts': CACHE,
  'i18n/texts.ts': CACHE,
  'jobs/session-expiry.ts': 'of one run',
  'core/device-name.ts': CACHE,
  'mail/letter-style.ts': CACHE,
  'mail/occurrence.ts': CACHE,
  'mail/send-now.ts': LIMIT,
  'mail/messages/sign-in-code.ts': CACHE,
  'mail/smtp-conversation.ts': OWN,
  'modules/applications/legal-urls.ts': 'checks that run now: the later result stays',
  'modules/beta/background-tasks.ts': 'of one batch',
  'modules/description/components.ts': 'of one description',
  'modules/description/left-out.ts': 'of one description',
  'modules/description/routes.ts': CACHE,
  'modules/description/shared-schemas.ts': 'of one description',
  'modules/i18n/routes.ts': CACHE,
  'modules/live/messages.ts': 'of one change',
  'modules/mcp/mcp-thread.ts': OWN,
  'modules/mcp/protocol.ts': OWN,
  'modules/mcp/service.ts': CACHE,
  'modules/openid/keys.ts': CACHE,
  'modules/provider/directory.ts': CACHE,
  'modules/seed/check.ts': 'of one apply',
  'modules/seed/plan.ts': 'of one apply',
  'modules/stats/service.ts': 'of one reading',
  'modules/verification/first-verified.ts': 'notes to be written: the first time in the database stays',
  'modules/webhooks/attempt.ts': CACHE,
  'modules/webhooks/slots.ts': 'of one claim',
  'outbound/probes.ts': LIMIT,
  'threads/frames.ts': OWN,
  'threads/hand-over.ts': OWN,
  'threads/note-intake.ts': OWN,
  'threads/taken-over.ts': OWN,
  'threads/thread-listener.ts': OWN,
};

function isFunctionValue(node: ts.Node): boolean {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

/** Returns whether a function can outlive the call of the enclosing one: a callback passed to a call cannot. */
function canOutlive(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && !(isFunctionValue(node) && ts.isCallExpression(node.parent));
}

/** Returns whether a function inside `scope` that can outlive its call uses the name. */
function isCaptured(scope: ts.Node, name: string): boolean {
  const isUsed = (node: ts.Node, isInside: boolean): boolean =>
    (isInside && ts.isIdentifier(node) && node.text === name) ||
    (ts.forEachChild(node, (child) => isUsed(child, isInside || canOutlive(child)) || undefined) ?? false);
  return isUsed(scope, false);
}

/**
 * Returns the names of collections that outlive a call: captured by a factory's functions, in a field, or created
 * empty at top level.
 */
function stateIn(path: string, text: string): string[] {
  const found: string[] = [];
  function look(node: ts.Node, scope: ts.Node | null): void {
    const isNamed = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
    if (isNamed && node.initializer && MAKES_STATE.test(node.initializer.getText())) {
      const isEmpty = /(?:\(\)|\[\])$/.test(node.initializer.getText());
      const name = node.name.getText();
      if (ts.isPropertyDeclaration(node) || (scope === null ? isEmpty : isCaptured(scope, name))) found.push(name);
    }
    ts.forEachChild(node, (child) => look(child, ts.isFunctionLike(node) ? node : scope));
  }
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), null);
  return found;
}

const paths = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)].filter((path) => !ELSEWHERE.test(path)).sort();
const state = new Map<string, string[]>();
for (const path of paths) {
  const names = stateIn(path, await Bun.file(join(SRC, path)).text());
  if (names.length > 0) state.set(path, names);
}

const owners = Object.values(PROCESS_STATE).flatMap((one) => one.owners);

describe('the state of a process', () => {
  test('is detected in a factory, a class or a module, and not in a single call', () => {
    const factory = 'export function cache() { const kept = new Map(); return { get: (key) => kept.get(key) }; }';
    const named = 'export function queue() { const here = new Set(); function add(id) { here.add(id); } return add; }';
    const field = 'class Cache { #kept = new Map(); }';
    const call = 'function unique(all) { const seen = new Set(); return all.filter((one) => !seen.has(one)); }';
    expect([factory, named, field, 'const kept = new Map();'].map((text) => stateIn('a.ts', text))).toEqual([
      ['kept'],
      ['here'],
      ['#kept'],
      ['kept'],
    ]);
    expect([call, "const NAMES = new Set(['a']);"].map((text) => stateIn('a.ts', text))).toEqual([[], []]);
    expect(state.size).toBeGreaterThan(40);
  });

  test('is listed in src/single-process.ts with its rule, or here with the reason for an exception', () => {
    const unlisted = [...state].filter(([path]) => !owners.includes(path) && !(path in EXEMPT));
    expect(Object.fromEntries(unlisted)).toEqual({});
  });

  test('has one entry per file, for existing files, and no unnecessary exception', () => {
    expect(owners.filter((path, at) => owners.indexOf(path) !== at)).toEqual([]);
    expect(owners.filter((path) => !paths.includes(path))).toEqual([]);
    expect(Object.keys(EXEMPT).filter((path) => !state.has(path) || owners.includes(path))).toEqual([]);
  });
});
