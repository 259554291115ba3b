/** Build time only: compresses the API reference renderer, which is too large to embed as text in a module. */

import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const FOLDER = join(import.meta.dir, 'generated');
/** Self-contained build of the package, which its export map does not list. */
const SOURCE = join(dirname(Bun.resolveSync('@scalar/api-reference', import.meta.dir)), 'browser', 'standalone.js');
/** The maximum quality takes ten times as long and saves only a tenth. */
const BROTLI_QUALITY = 9;

/** Writes `generated/reference.ts` and its compressed files, skipping existing ones. @returns the source size. */
export async function bundleReference(): Promise<number> {
  const text = await Bun.file(SOURCE).text();
  const content = Buffer.from(text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
  const hash = createHash('sha256').update(content).digest('hex');
  const name = `reference.${hash.slice(0, 8)}.js`;
  await mkdir(FOLDER, { recursive: true });
  for (const old of new Bun.Glob('reference.*.js.*').scanSync(FOLDER))
    if (!old.startsWith(name)) await rm(join(FOLDER, old));
  await writeOnce(`${name}.br`, () =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
      },
    }),
  );
  await writeOnce(`${name}.gz`, () => promisify(gzip)(content, { level: 9 }));
  await writeModule(
    [
      '/** Written by src/pages/bundle-reference.ts; do not edit. */',
      `import brotli from './${name}.br' with { type: 'file' };`,
      `import gzip from './${name}.gz' with { type: 'file' };`,
      '',
      'export const generatedReference = {',
      `  path: '/assets/${name}',`,
      `  etag: '"${hash.slice(0, 16)}"',`,
      '  brotli,',
      '  gzip,',
      '};',
      '',
    ].join('\n'),
  );
  return content.byteLength;
}

async function writeOnce(name: string, compress: () => Promise<Uint8Array>): Promise<void> {
  const path = join(FOLDER, name);
  if (!(await Bun.file(path).exists())) await Bun.write(path, await compress());
}

async function writeModule(text: string): Promise<void> {
  const file = Bun.file(join(FOLDER, 'reference.ts'));
  if (!(await file.exists()) || (await file.text()) !== text) await Bun.write(file, text);
}
