/**
 * The packages that the product is built from. Run while it is being built (a macro), where the lock file and the packages
 * themselves are: the binary carries what this returns.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** One package in the binary, as the lock file pins it. */
export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** The text that its license wants passed on; empty where the package carries none. */
  readonly notice: string;
  /** `sha512-…`, as the registry signed it. */
  readonly integrity: string;
  /** Names with versions, `name@1.2.3`. */
  readonly uses: string[];
}

interface Locked {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly optionalPeers?: readonly string[];
  /** Of native code for one kind of processor: the binary carries none of those. */
  readonly cpu?: unknown;
}

type LockEntry = readonly [id: string, registry: string, needs: Locked, integrity: string];

const ROOT = resolve(import.meta.dir, '../..');

/** What runs in production: the dependencies of the product, theirs, and so on; sorted. */
export function productionPackages(): PackagePart[] {
  const lock = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as {
    readonly workspaces: Record<string, Locked>;
    readonly packages: Record<string, LockEntry>;
  };
  const parts = new Map<string, PackagePart>();

  /** The place of a package as another one sees it: nested below it, or below what that is nested in. */
  function placeOf(name: string, from: readonly string[]): string[] | null {
    for (let depth = from.length; depth >= 0; depth -= 1) {
      const place = [...from.slice(0, depth), name];
      if (lock.packages[place.join('/')]) return place;
    }
    return null;
  }

  /** @returns the package's id, or null where it is not installed or no part of the binary. */
  function add(name: string, from: readonly string[]): string | null {
    const place = placeOf(name, from);
    const entry = place && lock.packages[place.join('/')];
    if (!place || !entry) return null;
    const [id, , needs, integrity] = entry;
    if (needs.cpu !== undefined) return null;
    if (parts.has(id)) return id;
    const folder = join(ROOT, 'node_modules', place.join('/node_modules/'));
    const at = id.lastIndexOf('@');
    const uses: string[] = [];
    const part = { name: id.slice(0, at), version: id.slice(at + 1), ...licenseOf(folder), integrity, uses };
    parts.set(id, part);
    for (const other of namesIn(needs)) {
      const used = add(other, place);
      if (used !== null) uses.push(used);
    }
    return id;
  }

  for (const name of Object.keys(lock.workspaces['']?.dependencies ?? {})) add(name, []);
  return [...parts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesIn({ dependencies, optionalDependencies, peerDependencies, optionalPeers = [] }: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name));
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers].sort();
}

function licenseOf(folder: string): { license: string; notice: string } {
  if (!existsSync(folder)) return { license: 'NOASSERTION', notice: '' };
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { license?: string };
  const files = readdirSync(folder).filter((name) => /^(?:licen[cs]e|notice|copying)(?:[.-]|$)/i.test(name));
  const notices = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
  return { license: license ?? 'NOASSERTION', notice: notices.join('\n\n') };
}
