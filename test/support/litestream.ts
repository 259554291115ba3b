/** The official Litestream binary, from its npm packages; absent on platforms without one. */
import { dirname, join } from 'node:path';
import printedText from '../../src/cli/print/litestream.yaml.txt' with { type: 'text' };

export const LITESTREAM: string | null = (() => {
  try {
    const platform = `@flydotio/litestream-${process.platform}-${process.arch}`;
    return join(dirname(Bun.resolveSync(`${platform}/package.json`, import.meta.dir)), 'litestream');
  } catch {
    return null;
  }
})();

/** Returns the configuration that the product prints, with this machine's folder and replica. */
export function configFor(folder: string, replica: string): string {
  const bucket = /( +)- type: s3\n(?:\1  .*\n)*?(?=\1  sync-interval)/;
  const printed = printedText as string;
  if (!bucket.test(printed)) throw new Error('the printed configuration has no bucket to put a folder in the place of');
  return printed
    .replaceAll('/var/lib/gatehouse/', `${folder}/`)
    .replace(bucket, `$1- type: file\n$1  path: ${replica}\n`);
}
