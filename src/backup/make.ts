/**
 * Makes one backup: copies the database, checks the copy, encrypts it if asked to, and gives it its name only once it
 * is whole and flushed. Blocks its thread while it copies, so it runs in its own (backup-thread.ts).
 */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StartupError } from '../core/startup-error.ts';
import { type BackupContents, copyForBackup, inspectBackup } from '../db/sqlite/backup.ts';
import { pathsIn } from '../db/sqlite/data-folder.ts';
import { flush } from '../db/sqlite/flush.ts';
import { noteUnfinished, removeUnfinished } from '../db/sqlite/unfinished-backup.ts';
import { encrypt, isEncrypted, type Locks, piecesOf, type Written, writeFlushed } from './encryption.ts';
import { type Keep, outlived } from './names.ts';
import { type BucketAccess, bucketOf, bucketTrouble, type BackupPlace, placeText } from './place.ts';

export interface BackupOrder {
  readonly dataFolder: string;
  /** Place of the file or the object itself. */
  readonly target: BackupPlace;
  readonly isReplacing: boolean;
  readonly access: BucketAccess;
  readonly locks: Locks;
  /** In epoch milliseconds. */
  readonly now: number;
  readonly version: string;
  /** Retention of this instance's backups in the same place; null keeps all. */
  readonly keep: Keep | null;
}

/** An order with its temporary file, in a form that can be posted to another thread. */
export interface BackupWork extends BackupOrder {
  /** See `unfinishedPath`; null where the target is a bucket. */
  readonly unfinished: string | null;
}

/** Progress of a backup: the step, and how many of its bytes were written where that is known. */
export interface BackupProgress {
  readonly step: 'copy' | 'check' | 'encrypt' | 'upload';
  readonly bytes: number;
}

export interface MadeBackup extends Written {
  readonly place: string;
  readonly isEncrypted: boolean;
  readonly contents: BackupContents;
  readonly durationMs: number;
  /** Names of older backups that were removed. */
  readonly removed: readonly string[];
  /** The reason why older backups could not be removed; null if they were. */
  readonly keepProblem: string | null;
}

const PART_BYTES = 16 * 2 ** 20;
const MOST_PARTS = 9000;

/** Temporary files of a backup; the next backup deletes those that a kill has left. */
const WORK_NAMES = ['gatehouse.db.backup-copy', 'gatehouse.db.backup-sealed'] as const;

/** Temporary name of a backup that goes to standard output. */
export const PIPED_NAME = 'gatehouse.db.backup-piped';

/** Returns the file that grows while the copy is made. */
export function copyPathOf({ dataFolder, locks, unfinished }: BackupWork): string {
  return unfinished === null || isEncrypted(locks) ? join(dataFolder, WORK_NAMES[0]) : unfinished;
}

/** Removes every temporary file of a backup. Call it under the folder's backup lock. */
export function removeWorkFiles(dataFolder: string): void {
  const paths = WORK_NAMES.map((name) => join(dataFolder, name));
  for (const path of paths) for (const file of [path, `${path}-journal`]) rmSync(file, { force: true });
  removeUnfinished(dataFolder);
}

/** Makes a backup. Call it under the folder's backup lock. @throws {StartupError} */
export async function makeBackup(order: BackupWork, tell: (progress: BackupProgress) => void): Promise<MadeBackup> {
  const began = performance.now();
  const { dataFolder, target, locks, unfinished, now, version } = order;
  const copy = copyPathOf(order);
  try {
    await refuseExisting(order);
    removeWorkFiles(dataFolder);
    if (unfinished !== null) noteUnfinished(dataFolder, unfinished);
    tell({ step: 'copy', bytes: 0 });
    copyForBackup(pathsIn(dataFolder), copy, { madeAt: now, version });
    tell({ step: 'check', bytes: 0 });
    const contents = inspectBackup(copy, copy);
    const { file, written } = await seal(order, copy, tell);
    if (target.kind === 'disk') putInPlace(file, target.path);
    else await upload(order, target, file, written.bytes, tell);
    const { removed, keepProblem } = await removeOutlived(order, target, contents.mark);
    return {
      ...written,
      place: placeText(target),
      isEncrypted: isEncrypted(locks),
      contents,
      durationMs: Math.round(performance.now() - began),
      removed,
      keepProblem,
    };
  } catch (error) {
    throw backupTrouble(error, target, dataFolder);
  } finally {
    removeWorkFiles(dataFolder);
  }
}

async function refuseExisting({ target, isReplacing, access }: BackupOrder): Promise<void> {
  if (isReplacing) return;
  const isThere =
    target.kind === 'disk' ? existsSync(target.path) : await isInBucket(bucketOf(target.bucket, access), target);
  if (isThere) throw new StartupError(`${placeText(target)} exists already; name another, or replace it with --force.`);
}

/** Lists instead of checking the object, because the errors of a list say more. */
async function isInBucket(bucket: Bun.S3Client, target: Extract<BackupPlace, { kind: 'bucket' }>): Promise<boolean> {
  try {
    const { contents = [] } = await bucket.list({ prefix: target.key, maxKeys: 1 });
    return contents.some(({ key }) => key === target.key);
  } catch (error) {
    throw bucketTrouble(error, target);
  }
}

/** Returns the file to put in place, encrypted if asked for, and flushed. */
async function seal(
  { dataFolder, locks, unfinished }: BackupWork,
  copy: string,
  tell: (progress: BackupProgress) => void,
): Promise<{ file: string; written: Written }> {
  if (!isEncrypted(locks)) {
    flush(copy);
    const hasher = new Bun.CryptoHasher('sha256');
    let bytes = 0;
    for await (const piece of piecesOf(copy)) {
      hasher.update(piece);
      bytes += piece.length;
    }
    return { file: copy, written: { bytes, sha256: hasher.digest('hex') } };
  }
  const file = unfinished ?? join(dataFolder, WORK_NAMES[1]);
  const stream = await encrypt(piecesOf(copy), locks);
  const written = await writeFlushed(stream, file, (bytes) => tell({ step: 'encrypt', bytes }));
  return { file, written };
}

function putInPlace(file: string, path: string): void {
  chmodSync(file, 0o600);
  renameSync(file, path);
  flush(dirname(path));
}

/** Uploads the file. An object exists only when it is complete; its size is compared all the same. */
async function upload(
  { access }: BackupOrder,
  target: Extract<BackupPlace, { kind: 'bucket' }>,
  file: string,
  bytes: number,
  tell: (progress: BackupProgress) => void,
): Promise<void> {
  tell({ step: 'upload', bytes: 0 });
  const bucket = bucketOf(target.bucket, access);
  const partSize = Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS));
  try {
    await bucket.write(target.key, Bun.file(file), {
      partSize,
      queueSize: 3,
      retry: 3,
      type: 'application/octet-stream',
    });
    const { size } = await bucket.stat(target.key);
    if (size !== bytes) throw new Error(`${size} of ${bytes} bytes have arrived.`);
  } catch (error) {
    throw bucketTrouble(error, target);
  }
}

/** Removes backups past their retention. A failure is reported and does not fail the new backup. */
async function removeOutlived(
  { keep, access, now }: BackupOrder,
  target: BackupPlace,
  mark: number,
): Promise<{ removed: string[]; keepProblem: string | null }> {
  const removed: string[] = [];
  if (keep === null) return { removed, keepProblem: null };
  try {
    if (target.kind === 'disk') {
      const folder = dirname(target.path);
      for (const name of outlived(readdirSync(folder), mark, keep, now)) {
        rmSync(join(folder, name), { force: true });
        removed.push(name);
      }
    } else {
      const bucket = bucketOf(target.bucket, access);
      const prefix = target.key.slice(0, target.key.length - basename(target.key).length);
      for (const name of outlived(await namesBelow(bucket, prefix), mark, keep, now)) {
        await bucket.delete(`${prefix}${name}`);
        removed.push(name);
      }
    }
    return { removed, keepProblem: null };
  } catch (error) {
    return { removed, keepProblem: (error as Error).message };
  }
}

async function namesBelow(bucket: Bun.S3Client, prefix: string): Promise<string[]> {
  const names: string[] = [];
  let continuationToken: string | undefined;
  do {
    const page = await bucket.list({ prefix, ...(continuationToken !== undefined && { continuationToken }) });
    names.push(...(page.contents ?? []).map(({ key }) => key.slice(prefix.length)));
    continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
  } while (continuationToken !== undefined);
  return names;
}

/** Turns an error of the file system or of SQLite into one with a remedy. */
function backupTrouble(error: unknown, target: BackupPlace, dataFolder: string): unknown {
  if (error instanceof StartupError) return error;
  const { code, path, message } = error as NodeJS.ErrnoException;
  const where = target.kind === 'disk' ? dirname(target.path) : dataFolder;
  const told = (text: string) => new StartupError(text, { cause: error });
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return told(`There is no room for the backup in ${where}. Make room, or name another place.`);
    case 'ENOENT':
    case 'ENOTDIR':
    case 'SQLITE_CANTOPEN':
      if (target.kind === 'disk' && !existsSync(where))
        return told(`There is no folder ${where}; make it, or mount it.`);
      return told(`${path ?? where} cannot be written. Give this user the right to it, or name another place.`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'SQLITE_READONLY':
      return told(`${path ?? where} cannot be written. Give this user the right to it, or name another place.`);
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return told(
        `The database in ${dataFolder} is damaged (${message}): no backup of it can be made. Restore the last good one.`,
      );
    default:
      return code === undefined ? error : told(`No backup could be made in ${where} (${message}).`);
  }
}
