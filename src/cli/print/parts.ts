/** Renders the software bill of materials and the license notices. */
import { VERSION } from '../../version.ts';
import { type PackagePart, productionPackages, runtimeNotice } from '../packages.ts' with { type: 'macro' };
import lgpl20 from './lgpl-2.0.txt' with { type: 'text' };
import lgpl21 from './lgpl-2.1.txt' with { type: 'text' };
import mit from './mit.txt' with { type: 'text' };

/** Embedded at build time; a function, so that a server start does not pay for it. */
const packages = (): PackagePart[] => productionPackages();

export const sbom = (): string => `${JSON.stringify(bill(packages()), null, 2)}\n`;

export const licenses = (): string => notices(packages(), runtimeNotice());

/** Returns a package URL (purl); the @ of a scope is percent-encoded. */
const purl = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;

const idOf = (entry: string) => purl(entry.slice(0, entry.lastIndexOf('@')), entry.slice(entry.lastIndexOf('@') + 1));

/** Returns a CycloneDX 1.5 document. Omits timestamp and serial number, so that a build always prints the same. */
function bill(packages: readonly PackagePart[]): object {
  const product = purl('gatehouse', VERSION);
  const runtime = `pkg:github/oven-sh/bun@bun-v${Bun.version}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': product,
        name: 'gatehouse',
        version: VERSION,
        purl: product,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [
      {
        type: 'platform',
        'bom-ref': runtime,
        name: 'bun',
        version: Bun.version,
        purl: runtime,
        licenses: [{ license: { id: 'MIT' } }],
        externalReferences: [{ type: 'license', url: 'https://bun.com/docs/project/license' }],
      },
      ...packages.map(({ name, version, license, copyright, integrity }) => ({
        type: 'library',
        'bom-ref': purl(name, version),
        ...nameParts(name),
        version,
        scope: 'required',
        purl: purl(name, version),
        licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
        ...(copyright !== null && { copyright }),
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
      })),
    ],
    dependencies: [
      { ref: product, dependsOn: [runtime, ...packages.map(({ name, version }) => purl(name, version))] },
      { ref: runtime, dependsOn: [] },
      ...packages.map(({ name, version, uses }) => ({ ref: purl(name, version), dependsOn: uses.map(idOf) })),
    ],
  };
}

function nameParts(name: string): { group?: string; name: string } {
  const [scope, rest] = name.split('/');
  return scope !== undefined && rest !== undefined ? { group: scope, name: rest } : { name };
}

const LINE = '-'.repeat(80);

const section = (title: string, text: string) => [LINE, title, LINE, '', text.trim(), ''].join('\n');

function notices(packages: readonly PackagePart[], runtimeText: string): string {
  const own = `gatehouse ${VERSION}: Apache-2.0`;
  const runtime = `bun ${Bun.version}: MIT; it links JavaScriptCore (LGPL-2.0), tinycc (LGPL-2.1) and others, listed below`;
  const list = packages.map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const texts = [
    section(`bun ${Bun.version} (MIT)`, runtimeText),
    section('The MIT License, of bun and what it links under it', mit),
    section('The GNU Library General Public License 2, of JavaScriptCore', lgpl20),
    section('The GNU Lesser General Public License 2.1, of JavaScriptCore and tinycc', lgpl21),
    ...packages.map(({ name, version, license, notice }) =>
      section(`${name} ${version} (${license})`, notice || 'The package carries no text of its license.'),
    ),
  ];
  return [own, runtime, ...list, '', ...texts].join('\n');
}
