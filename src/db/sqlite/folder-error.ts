/** Explains errors of the file system or SQLite on opening a data folder, with the remedy for the operator. */
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';

type Message = (place: string) => string;

const ELSEWHERE = 'or name another folder with --data.';
const NO_RIGHT: Message = (place) =>
  `${place} cannot be read and written by this user. Run Gatehouse as the user that it belongs to, give this one access to it, ${ELSEWHERE}`;
const READ_ONLY: Message = (place) => `${place} is on a disk that takes no changes. Mount it for writing, ${ELSEWHERE}`;
const FULL: Message = (place) => `There is no room left on the disk for ${place}. Make room, ${ELSEWHERE}`;
const DAMAGED: Message = (place) =>
  `${place} is damaged. Keep a copy of it, and bring back a good backup: gatehouse restore FILE --force.`;
const NO_FOLDER: Message = (place) => {
  const obstacle = obstacleOn(place) ?? { path: place, kind: 'no folder' };
  return obstacle.path === place
    ? `The data folder ${place} is ${obstacle.kind}; name a folder with --data.`
    : `The data folder ${place} cannot be made: ${obstacle.path} is ${obstacle.kind}. Name another folder with --data.`;
};

const MESSAGES: Readonly<Record<string, Message>> = {
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  SQLITE_PERM: NO_RIGHT,
  SQLITE_READONLY: READ_ONLY,
  EROFS: READ_ONLY,
  ENOSPC: FULL,
  EDQUOT: FULL,
  SQLITE_FULL: FULL,
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EISDIR: (place) => `${place} is a folder where a file must be. Move it away, and put the file back that was there.`,
  ELOOP: NO_FOLDER,
  ENAMETOOLONG: (place) => `The name of the data folder ${place} is too long. Name another with --data.`,
};

/** @param place of the error, unless it names a path. @returns null for an error without a code, a fault of ours. */
export function folderError(error: unknown, place: string): StartupError | null {
  const { code, path = place, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return null;
  const told = MESSAGES[code] ?? MESSAGES[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
  const text = told?.(path) ?? `${path} cannot be used (${message}). Fix that, ${ELSEWHERE}`;
  return new StartupError(text, { cause: error });
}

/** Returns the nearest obstacle on the way to a folder; a dangling link counts. */
function obstacleOn(folder: string): { path: string; kind: string } | null {
  for (let path = folder; ; path = dirname(path)) {
    try {
      const found = lstatSync(path);
      if (found.isDirectory()) return null;
      return { path, kind: found.isSymbolicLink() ? 'a link that leads to no folder' : 'a file' };
    } catch {
      if (path === dirname(path)) return null;
    }
  }
}
