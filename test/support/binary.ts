/** The compiled binary as a child process, in an empty folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const BINARY = resolve(import.meta.dir, '../../dist/gatehouse');

/** The environment without any setting of the product, so that a developer's own does not leak into a test. */
export function cleanEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...extra };
}

export function emptyFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs a command to its end. */
export async function run(args: string[], options: { cwd: string; env?: Record<string, string> }) {
  const child = Bun.spawn([BINARY, ...args], {
    cwd: options.cwd,
    env: cleanEnvironment(options.env),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  return { stdout, stderr, exitCode };
}

export interface EphemeralServer {
  readonly url: string;
  readonly workspaceId: string;
  readonly workspaceKey: string;
  readonly applicationId: string;
  readonly clientId: string;
  readonly process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  stop(): Promise<number>;
}

/** `gatehouse serve --ephemeral`, ready. */
export async function startEphemeral(args: string[] = [], env: Record<string, string> = {}): Promise<EphemeralServer> {
  const process = Bun.spawn([BINARY, 'serve', '--ephemeral', ...args], {
    env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'warn', ...env }),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const line = await firstLine(process.stdout);
  const ready = JSON.parse(line) as Omit<EphemeralServer, 'process' | 'stop'>;
  return {
    ...ready,
    process,
    async stop() {
      process.kill('SIGTERM');
      return process.exited;
    },
  };
}

/** The first line a stream gives; what comes after is left unread. */
export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the process ended before its first line: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.slice(0, text.indexOf('\n'));
}

/** A running server on a folder, ready to answer. */
export async function startServer(folder: string, env: Record<string, string> = {}, args: string[] = []) {
  const port = freePort();
  const process = Bun.spawn([BINARY, 'serve', '--data', folder, '--port', String(port), ...args], {
    env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'warn', ...env }),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const url = `http://127.0.0.1:${port}`;
  const output = textOf(process.stdout);
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
    if (process.exitCode !== null) throw new Error(`the server ended: ${await textOf(process.stderr)}`);
    await Bun.sleep(5);
  }
  return {
    url,
    process,
    /** All of standard output, once the process has ended. */
    output,
    async stop() {
      process.kill('SIGTERM');
      return process.exited;
    },
  };
}

export function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port!;
}

function textOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return new Response(stream).text();
}
