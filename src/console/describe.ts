/** Build time only: generates API types for the console and the client from this product's own description. */
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = resolve(import.meta.dir, '../..');
const GENERATED_FILES = ['console', 'client'].map((program) => join(ROOT, 'src', program, 'generated', 'api.ts'));

/** Writes `generated/api.ts` of both unless unchanged. The pages must be bundled already. */
export async function describeApi(): Promise<void> {
  // Runs the product in a separate process, which loads the pages built before.
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'openapi', '--all'], {
    cwd: ROOT,
    stdout: 'pipe',
    env: {},
  });
  const description = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('the API could not be described');
  const types = astToString(await openapiTS(description, { alphabetize: true }));
  const text = `/** Written by src/console/describe.ts from the description of the API; do not edit. */\n${types}`;
  for (const path of GENERATED_FILES) {
    const file = Bun.file(path);
    if ((await file.exists()) && (await file.text()) === text) continue;
    await mkdir(dirname(path), { recursive: true });
    await Bun.write(file, text);
  }
}
