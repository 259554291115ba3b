/** The code blocks of the guides, and a folder to run them in. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENTRIES } from '@/client/package.ts';
import { guideMarkdown, GUIDES } from '@/modules/docs/guides.ts';
import { BINARY, cleanEnvironment, collect, type Output } from '../../support/binary.ts';

const ROOT = resolve(import.meta.dir, '../../..');

export interface Block {
  /** Guide, language and index, as in `verify ts 0`. */
  readonly name: string;
  readonly slug: string;
  readonly code: string;
}

/** Returns every block of every guide. @param url replaces the server's address. */
export function blocksOfGuides(url: string): Block[] {
  return GUIDES.flatMap((guide) => {
    const counts = new Map<string, number>();
    const found = guideMarkdown(guide, url).matchAll(/^```(\w*)\n(.*?)^```$/gms);
    return [...found].map(([, language = '', code = '']) => {
      const count = counts.get(language) ?? 0;
      counts.set(language, count + 1);
      return { name: `${guide.slug} ${language || 'text'} ${count}`, slug: guide.slug, code };
    });
  });
}

/** A folder with the binary and the packages that the guides use. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'gatehouse-guides-'));
  readonly #children: Bun.Subprocess[] = [];

  async prepare(): Promise<void> {
    const packages = join(this.folder, 'node_modules');
    await mkdir(packages);
    for (const name of ['stripe', 'openid-client', 'express'])
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
    const client = join(packages, 'gatehouse');
    const exports = Object.fromEntries(Object.entries(ENTRIES).map(([name, entry]) => [name, `./${entry}.ts`]));
    await Bun.write(join(client, 'package.json'), JSON.stringify({ name: 'gatehouse', type: 'module', exports }));
    for (const name of Object.values(ENTRIES))
      await Bun.write(join(client, `${name}.ts`), `export * from '${join(ROOT, 'src/client', `${name}.ts`)}';\n`);
    await Bun.write(join(this.folder, 'package.json'), '{ "private": true, "type": "module" }');
    symlinkSync(BINARY, join(this.folder, 'gatehouse'));
  }

  /** Writes a block to the file named in its first comment. */
  async write({ code }: Block): Promise<string> {
    const [, name = ''] = /^(?:<\?php\n)?(?:\/\/|#) ([\w.-]+)\n/.exec(code) ?? [];
    if (name === '') throw new Error(`no file name: ${code.slice(0, 40)}`);
    await Bun.write(join(this.folder, name), code);
    return name;
  }

  /** Starts a command in the folder. */
  spawn(command: string[], env: Record<string, string>): { child: Bun.Subprocess; stdout: Output; stderr: Output } {
    const environment = cleanEnvironment({ ...env, PATH: `${this.folder}:${process.env['PATH']}` });
    const child = Bun.spawn(command, {
      cwd: this.folder,
      env: environment,
      stdout: 'pipe',
      stderr: 'pipe',
      stdin: 'ignore',
    });
    this.#children.push(child);
    const stderr = collect(child.stderr);
    return { child, stdout: collect(child.stdout, stderr), stderr };
  }

  /** Runs a command to its end. @returns its output. @throws {Error} with its error output. */
  async run(command: string[], env: Record<string, string> = {}): Promise<string> {
    const { child, stdout, stderr } = this.spawn(command, env);
    const [said, complained] = await Promise.all([stdout.whole, stderr.whole]);
    if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}${complained}`);
    return said;
  }

  async clear(): Promise<void> {
    for (const child of this.#children) child.kill('SIGTERM');
    await Promise.all(this.#children.map((child) => child.exited));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
