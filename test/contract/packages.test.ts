/** The product's packages: none has a known vulnerability, each has a license, and all are declared. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { basename, dirname, join, resolve } from 'node:path';
import { productionPackages } from '@/cli/packages.ts';
import manifest from '../../package.json' with { type: 'json' };
import { cleanEnvironment, run } from '../support/binary.ts';

setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, '../..');
const MODULES = join(ROOT, 'node_modules');

interface Audit {
  /**
   * The packages' known vulnerabilities as `name: severity: title (address)`; null without an answer of the registry.
   */
  readonly known: readonly string[] | null;
  readonly said: string;
}

/** Asks the registry; an unreachable one, or one without advisories, gives no verdict. */
async function audit(environment: Record<string, string> = {}): Promise<Audit> {
  const child = Bun.spawn([process.execPath, 'audit', '--json'], {
    cwd: ROOT,
    env: cleanEnvironment(environment),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 20_000,
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  const said = stderr.trim().split('\n').at(-1) || 'no answer in time';
  try {
    const found = JSON.parse(stdout) as Record<string, { severity: string; title: string; url: string }[]>;
    const known = Object.entries(found).flatMap(([name, advisories]) =>
      advisories.map(({ severity, title, url }) => `${name}: ${severity}: ${title} (${url})`),
    );
    return { known, said };
  } catch {
    return { known: null, said };
  }
}

describe('vulnerabilities', async () => {
  const { known, said } = await audit();

  test.skipIf(known === null)(
    `no package has a known vulnerability${known === null ? ` (not asked: the registry gave no answer: ${said})` : ''}`,
    () => {
      expect(known).toEqual([]);
    },
  );

  describe('the audit', () => {
    const answers = { body: '{}', status: 200 };
    const registry = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(answers.body, { status: answers.status }),
    });
    afterAll(() => registry.stop(true));
    const ask = () => audit({ NPM_CONFIG_REGISTRY: registry.url.href, BUN_CONFIG_REGISTRY: registry.url.href });

    test('reports a vulnerability that the registry knows', async () => {
      const advisory = {
        id: 1,
        url: 'https://github.com/advisories/GHSA-test',
        title: 'Everything is wrong with it',
        severity: 'high',
        vulnerable_versions: '*',
      };
      answers.body = JSON.stringify({ jose: [advisory] });
      expect((await ask()).known).toEqual([
        'jose: high: Everything is wrong with it (https://github.com/advisories/GHSA-test)',
      ]);
    });

    test('reports none if the registry knows none, and unknown if it does not answer', async () => {
      answers.body = '{}';
      expect((await ask()).known).toEqual([]);
      answers.status = 503;
      expect((await ask()).known).toBeNull();
    });
  });
});

describe('licenses', () => {
  const packages = productionPackages();

  test('are compatible with a product under the Apache License', () => {
    const allowed = [
      'MIT',
      'MIT-0',
      '0BSD',
      // Public domain.
      'Unlicense',
      'ISC',
      'BSD-2-Clause',
      'BSD-3-Clause',
      'Apache-2.0',
      // Requires attribution, which is printed.
      'CC-BY-4.0',
      'BlueOak-1.0.0',
      '(MIT OR CC0-1.0)',
      // The second of the two is chosen.
      '(AFL-2.1 OR BSD-3-Clause)',
    ];
    expect(
      packages.filter(({ license }) => !allowed.includes(license)).map(({ name, license }) => [name, license]),
    ).toEqual([]);
  });

  test('are listed for every production package', () => {
    const names = packages.map(({ name }) => name);
    for (const name of Object.keys(manifest.dependencies)) expect(names).toContain(name);
    for (const name of Object.keys(manifest.devDependencies)) {
      const isUsedByAnother = packages.some(({ uses }) => uses.some((used) => used.startsWith(`${name}@`)));
      if (!isUsedByAnother) expect(names).not.toContain(name);
    }
    expect(packages.filter(({ integrity }) => !integrity.startsWith('sha512-'))).toEqual([]);
  });

  test('are printed by the binary, with the required texts', async () => {
    const { stdout, exitCode } = await run(['print', 'licenses'], { cwd: '/' });
    expect(exitCode).toBe(0);
    for (const { name, version, license, notice } of packages) {
      expect(stdout).toContain(`${name} ${version}: ${license}\n`);
      expect(stdout).toContain(notice);
    }
  });

  test('every package’s license text, in any file of it, is printed', async () => {
    const { stdout } = await run(['print', 'licenses'], { cwd: '/' });
    const isPart = new Set(packages.map(({ name, version }) => `${name}@${version}`));
    const unprinted: string[] = [];
    let texts = 0;
    for (const path of new Bun.Glob('**/package.json').scanSync({ cwd: MODULES })) {
      const { name, version } = await Bun.file(join(MODULES, path)).json();
      const isRoot = new RegExp(`(?:^|/node_modules/)${name}/package\\.json$`).test(`/node_modules/${path}`);
      if (!isRoot || !isPart.has(`${name}@${version}`)) continue;
      const folder = join(MODULES, dirname(path));
      for (const file of new Bun.Glob('**/*').scanSync({ cwd: folder, dot: true })) {
        if (file.includes('node_modules/') || !/licen[cs]e|notice|copying|copyright/i.test(basename(file))) continue;
        if (/\.(?:[cm]?[jt]sx?|json|map|vue|svg|css|html)$/i.test(file)) continue;
        texts += 1;
        const text = (await Bun.file(join(folder, file)).text()).replaceAll('\r\n', '\n').trim();
        if (!stdout.includes(text)) unprinted.push(`${name}: ${file}`);
      }
    }
    expect(unprinted).toEqual([]);
    expect(texts).toBeGreaterThan(300);
  });

  test('name the registries as the source of the country table, as its license requires, and its date', async () => {
    const { stdout } = await run(['print', 'licenses'], { cwd: '/' });
    expect(stdout).toContain('@ip-location-db/geo-whois-asn-country-mmdb 2.3.2026061719: CC-BY-4.0\n');
    expect(stdout).toContain('Countries of addresses: data of 2026-06-17 of the Number Resource Organization (NRO)');
    expect(stdout).toContain('you give attribution to nro.net for the data');
    const bill = (await run(['print', 'sbom'], { cwd: '/' })).stdout;
    const table = JSON.parse(bill).components.find(({ name }: { name: string }) => name.startsWith('geo-whois'));
    expect(table).toMatchObject({
      licenses: [{ license: { id: 'CC-BY-4.0' } }],
      copyright: 'Number Resource Organization (NRO), https://www.nro.net',
    });
    expect((await run(['version'], { cwd: '/' })).stdout).toContain(
      'countries of 2026-06-17 (NRO, nro.net, CC BY 4.0)\n',
    );
  });

  test('the runtime’s licenses are printed: its own notice, and the texts that JavaScriptCore and tinycc require', async () => {
    const { stdout } = await run(['print', 'licenses'], { cwd: '/' });
    expect(stdout).toContain('Bun statically links JavaScriptCore (and WebKit), which is LGPL-2 licensed.');
    expect(stdout).toContain('Permission is hereby granted, free of charge');
    expect(stdout).toContain('GNU LIBRARY GENERAL PUBLIC LICENSE\n                       Version 2, June 1991');
    expect(stdout).toContain('GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 2.1, February 1999');
    expect(stdout.match(/END OF TERMS AND CONDITIONS/g)!.length).toBeGreaterThanOrEqual(2);
  });
});

describe('the bill of materials', () => {
  interface Component {
    readonly type: string;
    readonly 'bom-ref': string;
    readonly name: string;
    readonly group?: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: ({ license: { id: string } } | { expression: string })[];
    readonly hashes?: { alg: string; content: string }[];
  }

  interface Bill {
    readonly bomFormat: string;
    readonly specVersion: string;
    readonly version: number;
    readonly metadata: { readonly component: Component };
    readonly components: Component[];
    readonly dependencies: { ref: string; dependsOn: string[] }[];
  }

  test('is CycloneDX 1.5: every part with version, address, license, hash and dependencies', async () => {
    const { stdout, exitCode } = await run(['print', 'sbom'], { cwd: '/' });
    expect(exitCode).toBe(0);
    const bill = JSON.parse(stdout) as Bill;
    expect([bill.bomFormat, bill.specVersion, bill.version]).toEqual(['CycloneDX', '1.5', 1]);
    const { component } = bill.metadata;
    expect([component.type, component.name, component.version]).toEqual(['application', 'gatehouse', manifest.version]);
    const expected = productionPackages().map(({ name, version }) => `${name}@${version}`);
    const libraries = bill.components.filter(({ type }) => type === 'library');
    const named = libraries.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`);
    expect(named.sort()).toEqual(expected.sort());
    for (const { purl, licenses, hashes } of libraries) {
      expect(purl).toMatch(/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d[\w.+-]*$/);
      expect(licenses).toHaveLength(1);
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    }
    expect(
      bill.components.filter(({ type }) => type === 'platform').map(({ name, version }) => [name, version]),
    ).toEqual([['bun', Bun.version]]);
    const references = new Set([component, ...bill.components].map((part) => part['bom-ref']));
    expect(references.size).toBe(bill.components.length + 1);
    expect(new Set(bill.dependencies.map(({ ref }) => ref))).toEqual(references);
    for (const { dependsOn } of bill.dependencies)
      for (const reference of dependsOn) expect(references).toContain(reference);
  });
});
