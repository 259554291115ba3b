/** Lists the packages in the product. A build-time macro: it reads the lock file, and the binary embeds the result. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { COUNTRY_DATA_NOTICE } from '../core/country-data.ts';

export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** License text that must be redistributed; empty when the package contains none. */
  readonly notice: string;
  /** Copyright holder, for licenses that require attribution. */
  readonly copyright: string | null;
  /** Integrity hash from the registry, `sha512-…`. */
  readonly integrity: string;
  /** Dependencies as `name@1.2.3`. */
  readonly uses: string[];
}

interface Locked {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly optionalPeers?: readonly string[];
  /** Set for native code of one CPU type, which the binary does not contain. */
  readonly cpu?: unknown;
}

type LockEntry = readonly [id: string, registry: string, needs: Locked, integrity: string];

const ROOT = resolve(import.meta.dir, '../..');

/** Returns the production dependencies, direct and transitive, sorted. */
export function productionPackages(): PackagePart[] {
  const lock = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as {
    readonly workspaces: Record<string, Locked>;
    readonly packages: Record<string, LockEntry>;
  };
  const parts = new Map<string, PackagePart>();

  /** Resolves a package as its dependent does: nested below it, then below each of its parents. */
  function placeOf(name: string, from: readonly string[]): string[] | null {
    for (let depth = from.length; depth >= 0; depth -= 1) {
      const place = [...from.slice(0, depth), name];
      if (lock.packages[place.join('/')]) return place;
    }
    return null;
  }

  /** Adds a package and its dependencies. @returns its id; null when not installed or not part of the binary. */
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
    const part = {
      name: id.slice(0, at),
      version: id.slice(at + 1),
      ...licenseOf(id.slice(0, at), folder),
      integrity,
      uses,
    };
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

/** Overrides for packages whose manifest names another license than their files. */
const CORRECTIONS: Readonly<Record<string, Pick<PackagePart, 'license' | 'notice' | 'copyright'>>> = {
  '@ip-location-db/geo-whois-asn-country-mmdb': {
    license: 'CC-BY-4.0',
    notice: COUNTRY_DATA_NOTICE,
    copyright: 'Number Resource Organization (NRO), https://www.nro.net',
  },
};

const LICENSE_FILE = /licen[cs]e|notice|copying|copyright/i;
/** Source modules and images whose name mentions a license. */
const CODE_FILE = /\.(?:[cm]?[jt]sx?|json|map|vue|svg|css|html)$/i;

function licenseOf(name: string, folder: string): Pick<PackagePart, 'license' | 'notice' | 'copyright'> {
  if (!existsSync(folder)) return { license: 'NOASSERTION', notice: '', copyright: null };
  const { license = 'NOASSERTION' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    license?: string;
  };
  const correction = CORRECTIONS[name];
  const texts = licenseFilesIn(folder).map((path) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim());
  return {
    license: correction?.license ?? license,
    notice: [...(correction ? [correction.notice] : []), ...texts].join('\n\n'),
    copyright: correction?.copyright ?? null,
  };
}

/** Returns the paths of all license texts in a package. Skips nested packages, which are parts of their own. */
function licenseFilesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : licenseFilesIn(path);
      return LICENSE_FILE.test(entry.name) && !CODE_FILE.test(entry.name) ? [path] : [];
    });
}

/** Returns the license notice of Bun and everything it links. */
export function runtimeNotice(): string {
  const types = resolve(Bun.resolveSync('bun-types/package.json', ROOT), '..');
  const text = readFileSync(join(types, 'docs/project/license.mdx'), 'utf8');
  return text.replace(/^---\n[^]*?\n---\n/, '').trim();
}
