/** Restores a backup: fetches, decrypts and checks it in a staging place before anything else is changed. */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileTime } from '../core/clock.ts';
import { StartupError } from '../core/startup-error.ts';
import { type BackupContents, inspectBackup, unpackBackup } from '../db/sqlite/backup.ts';
import { type DataFolder, openDataFolder } from '../db/sqlite/data-folder.ts';
import { lockDataFolder } from '../db/sqlite/locks.ts';
import { commitRestore, finishRestore, isFolderEmpty, makeStagingFolder } from '../db/sqlite/atomic-restore.ts';
import { decrypt, isAge, type Keys, piecesOf, SHORTEST_PASSPHRASE, writeFlushed } from './encryption.ts';
import { type BucketAccess, bucketOf, bucketTrouble, type BackupPlace, placeText } from './place.ts';

export interface RestoreOrder {
  readonly source: BackupPlace;
  readonly access: BucketAccess;
  readonly keys: Keys;
  readonly dataFolder: string;
  /** Restores even if the folder is not empty: what is there is set aside. */
  readonly isForced: boolean;
  /** In epoch milliseconds. */
  readonly now: number;
}

export interface Restored {
  readonly contents: BackupContents;
  /** Where the previous data is now; null if there was none. */
  readonly aside: string | null;
}

export type TellStep = (step: 'fetch' | 'check' | 'place', bytes: number) => void;

/** @throws {StartupError} after which nothing has changed. */
export async function restoreBackup(order: RestoreOrder, tell: TellStep): Promise<Restored> {
  const { source, dataFolder, isForced, now } = order;
  if (source.kind === 'disk') requireFile(source.path);
  if (!isForced && !isFolderEmpty(dataFolder))
    throw new StartupError(
      `${dataFolder} is not empty. Name an empty folder with --data, or move its files aside with --force.`,
    );
  const isNew = !existsSync(dataFolder);
  const folder = openDataFolder(dataFolder);
  const lock = lockDataFolder(folder.path);
  let isRestored = false;
  try {
    // A restore that was killed midway counts as done: its result is set aside now.
    finishRestore(folder.path);
    const staging = makeStagingFolder(folder.path);
    try {
      const contents = await unpackInto(order, staging, tell);
      tell('place', 0);
      const aside = commitRestore(folder.path, freeName(folder.path, `before-restore-${fileTime(now)}`));
      isRestored = true;
      return { contents, aside };
    } finally {
      staging.remove();
    }
  } finally {
    lock.release();
    if (isNew && !isRestored) rmSync(folder.path, { recursive: true });
  }
}

/** Fetches a backup, checks it, and extracts its database and key. @throws {StartupError} */
export async function unpackInto(
  { source, access, keys }: Pick<RestoreOrder, 'source' | 'access' | 'keys'>,
  { databasePath, instanceKeyPath }: Pick<DataFolder, 'databasePath' | 'instanceKeyPath'>,
  tell: TellStep,
): Promise<BackupContents> {
  const name = placeText(source);
  tell('fetch', 0);
  const { stream, head } = await openSource(source, access);
  const plain = isAge(head) ? await decrypt(stream, keys, name) : stream;
  try {
    await writeFlushed(plain, databasePath, (bytes) => tell('fetch', bytes));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new StartupError(`There is no room for ${name}. Make room; nothing was changed.`, { cause: error });
    if (source.kind === 'bucket' && code !== undefined && code !== 'EIO') throw bucketTrouble(error, source);
    throw new StartupError(`${name} is damaged or not whole (${(error as Error).message}). Nothing was changed.`, {
      cause: error,
    });
  }
  tell('check', 0);
  const contents = inspectBackup(databasePath, name);
  unpackBackup(databasePath, instanceKeyPath);
  return contents;
}

function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new StartupError(`There is no file ${path}.`);
  if (!found.isFile()) throw new StartupError(`${path} is no file; name the backup itself.`);
}

const HEAD_BYTES = 64;

async function openSource(
  source: BackupPlace,
  access: BucketAccess,
): Promise<{ stream: ReadableStream<Uint8Array>; head: Uint8Array }> {
  if (source.kind === 'disk') {
    requireFile(source.path);
    const file = await open(source.path, 'r').catch((cause: unknown) => {
      throw new StartupError(`${source.path} cannot be read (${(cause as Error).message}).`, { cause });
    });
    const head = new Uint8Array(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    await file.close();
    return { stream: piecesOf(source.path), head: head.subarray(0, bytesRead) };
  }
  const object = bucketOf(source.bucket, access).file(source.key);
  try {
    const head = new Uint8Array(await object.slice(0, HEAD_BYTES).arrayBuffer());
    return { stream: object.stream() as ReadableStream<Uint8Array>, head };
  } catch (error) {
    throw bucketTrouble(error, source);
  }
}

function freeName(folder: string, name: string): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!existsSync(join(folder, candidate))) return candidate;
  }
}

/** Returns the one line of a passphrase file. @throws {StartupError} */
export function readPassphrase(path: string, { isNew }: { readonly isNew: boolean }): string {
  const text = readText(path, '--passphrase-file').replace(/\r?\n$/, '');
  if (text === '' || text.includes('\n'))
    throw new StartupError(`${path} must hold one line: the passphrase (--passphrase-file).`);
  if (isNew && text.length < SHORTEST_PASSPHRASE)
    throw new StartupError(`The passphrase in ${path} is too short; give ${SHORTEST_PASSPHRASE} characters or more.`);
  return text;
}

/** Returns the identities of a file as `age-keygen` writes it: one per line, with comments. @throws {StartupError} */
export function readIdentities(path: string): string[] {
  const lines = readText(path, '--identity-file').split('\n');
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw new StartupError(`${path} holds no age identity (AGE-SECRET-KEY-1…).`);
  return identities;
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StartupError(`${path} cannot be read (${flag}): ${(cause as Error).message}`, { cause });
  }
}
