/** Build time only: the types of the API's calls, from this product's own description, so that the console can do nothing else. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = resolve(import.meta.dir, '../..');
const GENERATED_FILE = join(import.meta.dir, 'generated', 'api.ts');

/** Writes `generated/api.ts`; a file that would not change is not touched. The pages must have been bundled. */
export async function describeApi(): Promise<void> {
  // The description is the running product's own: from a process that has been built already.
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'openapi'], { cwd: ROOT, stdout: 'pipe', env: {} });
  const description = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('the API could not be described');
  const types = astToString(await openapiTS(description, { alphabetize: true }));
  const text = `/** Written by src/console/describe.ts from the description of the API; do not edit. */\n${types}`;
  const file = Bun.file(GENERATED_FILE);
  if ((await file.exists()) && (await file.text()) === text) return;
  await mkdir(join(GENERATED_FILE, '..'), { recursive: true });
  await Bun.write(file, text);
}
