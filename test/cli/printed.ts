/** Runs `gatehouse print` from source. */
import { expect } from 'bun:test';
import { join } from 'node:path';
import { cleanEnvironment } from '../support/binary.ts';

export const ROOT = join(import.meta.dir, '../..');

/** Runs `print`, also with operands and flags that it refuses. */
export async function runPrint(words: readonly string[], env: Record<string, string> = {}) {
  const command = [process.execPath, 'src/main.ts', 'print', ...words];
  // A process of its own: printed files are also read there at build time.
  const child = Bun.spawn(command, { cwd: ROOT, env: cleanEnvironment(env), stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

export async function printed(what: string, env: Record<string, string> = {}, flags: string[] = []): Promise<string> {
  const { stdout, stderr, exitCode } = await runPrint([what, ...flags], env);
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout;
}
