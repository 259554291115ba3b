/** An example of the package, installed as its README says, next to a server that it uses. */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createClient } from '@/client/gatehouse.ts';
import { packClient } from '@/client/package.ts';
import { type EphemeralServer, startEphemeral } from '@/client/testing.ts';
import { leaving } from '../../browser/leaving.ts';
import { BINARY, cleanEnvironment, collect, type Output } from '../../support/binary.ts';
import type { Page } from '../../support/browser.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const EXAMPLES = join(ROOT, 'src/client/examples');

/** Uses Node or Bun, whichever is installed, since the examples support both. */
export const RUNTIME: string = Bun.which('node') ?? process.execPath;

/** Nothing but the package registry is used, and nobody is told of a build. */
const QUIET = { NEXT_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', CI: '1' };

/** A copy of an example in a folder below the frameworks that this repository has installed. */
export class Example {
  readonly folder: string;
  readonly server: EphemeralServer;
  readonly #children: Bun.Subprocess[] = [];

  private constructor(folder: string, server: EphemeralServer) {
    this.folder = folder;
    this.server = server;
  }

  static async install(name: string): Promise<Example> {
    await mkdir(join(ROOT, 'dist'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, 'dist/example-'));
    const packages = join(folder, 'node_modules');
    const [server, tarball] = await Promise.all([
      startEphemeral({ binary: BINARY }),
      packClient(join(packages, '.packed')),
      cp(join(EXAMPLES, name), folder, { recursive: true }),
    ]);
    await Bun.$`tar -xzf ${tarball} -C ${packages} && mv ${join(packages, 'package')} ${join(packages, 'gatehouse')}`;
    return new Example(folder, server);
  }

  /** Runs a command to its end. @returns its output. @throws {Error} with its output. */
  async run(command: string[], env: Record<string, string> = {}): Promise<string> {
    const { child, output, errors } = this.#spawn(command, env);
    const said = `${await output.whole}${await errors.whole}`;
    if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`);
    return said;
  }

  /** Starts a server of the example, and waits until it says that it listens. */
  async start(command: string[], env: Record<string, string>, listens: RegExp): Promise<Output> {
    const { output, errors } = this.#spawn(command, env);
    // Some say it on one stream, some on the other.
    await Promise.any([output.until(listens), errors.until(listens)]).catch(async () => {
      throw new Error(`${command.join(' ')}: ${output.text()}${errors.text()}`);
    });
    return output;
  }

  #spawn(command: string[], env: Record<string, string>): { child: Bun.Subprocess; output: Output; errors: Output } {
    const child = Bun.spawn(command, {
      cwd: this.folder,
      env: cleanEnvironment({ ...QUIET, ...env }),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#children.push(child);
    const errors = collect(child.stderr);
    return { child, output: collect(child.stdout, errors), errors };
  }

  /** The path of a file of a package that the repository has installed. */
  bin(path: string): string {
    return join(ROOT, 'node_modules', path);
  }

  /** Calls the server with its workspace key. */
  get client(): ReturnType<typeof createClient> {
    return createClient({ url: this.server.url, apiKey: this.server.workspaceKey });
  }

  async createKey(): Promise<string> {
    const path = { id: this.server.applicationId };
    const body = { name: 'example', access: 'read' } as const;
    return (await this.client.post('/api/applications/{id}/api-keys', { path, body })).token;
  }

  /** Creates a role, and gives it to a person, who signs in for it. @returns their session. */
  async signInAs(email: string, role: string): Promise<{ token: string; userId: string }> {
    const path = { id: this.server.applicationId };
    await this.client.post('/api/applications/{id}/roles', { path, body: { slug: role } });
    const { token, userId } = await this.server.signIn(email);
    const ofUser = { path: { ...path, userId }, body: { roles: [role] } };
    await this.client.put('/api/applications/{id}/users/{userId}/roles', ofUser);
    return { token, userId };
  }

  async allowReturnTo(url: string): Promise<void> {
    const path = { id: this.server.applicationId };
    await this.client.patch('/api/applications/{id}', { path, body: { returnUrls: [url] } });
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGTERM');
    await Promise.all(this.#children.map((child) => child.exited));
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Signs a person in on the hosted page by a code, as they would. */
export async function signInOnPage(page: Page, server: EphemeralServer, email: string): Promise<void> {
  await page.untilFocused('email');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  const [mail] = await server.outbox(email);
  await leaving(page, () => page.pressKeys(`${mail?.code}`));
}
