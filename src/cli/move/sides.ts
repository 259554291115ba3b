/** Opens source and target of a move, each by its own engine, and refuses pairs that other commands copy. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, Flags } from '../../config.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { MoveSource, MoveTarget } from '../../db/move/tables.ts';
import { type PostgresAddress, readPostgresUrl } from '../../db/postgres/address.ts';
import { UNMOVED_TABLES } from '../../store/unmoved-tables.ts';
import { VERSION } from '../../version.ts';
import { UsageError } from '../arguments.ts';

export interface Sides {
  /** Names for people. */
  readonly from: string;
  readonly to: string;
  readonly source: MoveSource;
  readonly target: MoveTarget;
  /** Address and key of a database, for its servers; null for a folder, which has its own key. */
  readonly access: { readonly shown: string; readonly keyPath: string } | null;
  /** Folder whose server has to stop; null for PostgreSQL, which refuses changes itself. */
  readonly folder: string | null;
  /** Closes both sides. */
  readonly opened: AsyncDisposableStack;
}

export type Destination = { readonly address: PostgresAddress } | { readonly folder: string };

const isMoved = (table: string) => !(table in UNMOVED_TABLES);

const databaseName = ({ shown }: PostgresAddress) => `PostgreSQL at ${shown}`;

/** Returns the target that the flags name. @throws {UsageError} */
export function destinationOf({ to, 'to-file': file }: Flags): Destination {
  if (typeof to === 'string' && typeof file === 'string') throw new UsageError('Give --to or --to-file, not both.');
  const given = typeof file === 'string' ? readUrlFile(file) : to;
  if (typeof given !== 'string' || given === '')
    throw new UsageError('Say where to: --to postgres://… or --to FOLDER. See "gatehouse help move".');
  if (!/^postgres(?:ql)?:/i.test(given)) return { folder: resolve(given) };
  const address = readPostgresUrl(given);
  if (typeof address === 'string') throw new UsageError(`--to: ${address}`);
  return { address };
}

function readUrlFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new StartupError(`${path} cannot be read (--to-file): ${(cause as Error).message}`, { cause });
  }
}

/** @throws {StartupError} for a source that is no instance, or a target that is not empty. @throws {UsageError} */
export async function openSides(config: Config, destination: Destination): Promise<Sides> {
  if (config.database === null && 'address' in destination) return openToPostgres(config, destination.address);
  if (config.database !== null && 'folder' in destination) return openToFolder(config.database, destination.folder);
  throw new UsageError(
    config.database === null
      ? 'Source and target are both folders. Copy one by "gatehouse backup" and "gatehouse restore".'
      : 'Source and target are both PostgreSQL. Copy one by pg_dump and pg_restore, or name a folder by --data.',
  );
}

async function openToPostgres({ dataFolder }: Config, address: PostgresAddress): Promise<Sides> {
  const { openMoveClient } = await import('../../db/postgres/move-client.ts');
  const { openPostgresTarget } = await import('../../db/postgres/move-target.ts');
  const { openFolderSource } = await import('../../db/sqlite/move-source.ts');
  const to = databaseName(address);
  await using opened = new AsyncDisposableStack();
  const source = openFolderSource(dataFolder, { isMoved, to });
  opened.defer(() => source.close());
  const sql = await openMoveClient(address);
  opened.defer(() => sql.close({ timeout: 0 }));
  const target = await openPostgresTarget(sql, { isMoved, key: source.key, binaryVersion: VERSION, shown: to });
  opened.defer(() => target.close());
  const from = resolve(dataFolder);
  const access = { shown: address.shown, keyPath: source.instanceKeyPath };
  return { from, to, source, target, access, folder: from, opened: opened.move() };
}

async function openToFolder(database: NonNullable<Config['database']>, folder: string): Promise<Sides> {
  const { openMoveClient } = await import('../../db/postgres/move-client.ts');
  const { openPostgresSource } = await import('../../db/postgres/move-source.ts');
  const { openFolderTarget } = await import('../../db/sqlite/move-target.ts');
  await using opened = new AsyncDisposableStack();
  const sql = await openMoveClient(database.address);
  opened.defer(() => sql.close({ timeout: 0 }));
  const source = await openPostgresSource(sql, { isMoved, keyBytes: database.keyBytes, to: folder });
  opened.defer(() => source.close());
  const target = openFolderTarget(folder, { isMoved, key: source.key, keyBytes: source.keyBytes });
  opened.defer(() => target.close());
  const from = databaseName(database.address);
  return { from, to: folder, source, target, access: null, folder: null, opened: opened.move() };
}
