/** Files that root makes in somebody else's data folder are given to its owner: their server could not open them otherwise. */
import { chownSync, existsSync, statSync } from 'node:fs';

export function giveToOwnerOf(folder: string, paths: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  for (const path of paths) if (existsSync(path)) chownSync(path, uid, gid);
}
