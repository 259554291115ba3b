/** Gives files that root makes in another user's data folder to its owner, whose server must open them. */
import { chownSync, existsSync, statSync } from 'node:fs';

export function chownToOwnerOf(folder: string, paths: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  for (const path of paths) if (existsSync(path)) chownSync(path, uid, gid);
}
