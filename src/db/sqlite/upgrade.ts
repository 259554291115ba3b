/**
 * Upgrades a database to this binary's schema: room, copy, check of the copy, then all changes at once. A thread does
 * it, so that progress can be reported.
 */
import { statfsSync, statSync } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { bytesText } from '../../core/quantities.ts';
import { StartupError } from '../../core/startup-error.ts';
import { openReadOnly } from './read-only.ts';
import type { DataFolder } from './data-folder.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { clearUnfinishedCopies, unfinishedCopy, upgradeCopyPath } from './upgrade-copies.ts';
import type { UpgradeMessage, UpgradeOrder, UpgradeStep } from './upgrade-thread.ts';

export interface UpgradeOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly isDurable: boolean;
  readonly events: {
    /** Called at the start of an upgrade, and every few seconds of a long one. */
    onUpgrade(progress: string): void;
  };
}

const REPORT_EVERY_MS = 3000;

/** One for the copy, one for the log of the changes, one for growth and sorting. */
const ROOM = 3;
const LEAST_ROOM_BYTES = 16 * 2 ** 20;

/**
 * Call it under the folder's lock, before anything else opens the database. @param from the schema it has.
 *
 * @returns the path of the copy; null where there was nothing to upgrade.
 * @throws {StartupError} with the database unchanged.
 */
export async function upgradeData(
  folder: DataFolder,
  from: number,
  { clock, version, isDurable, events }: UpgradeOptions,
): Promise<string | null> {
  if (from >= SCHEMA_VERSION) return null;
  const { path, databasePath } = folder;
  clearUnfinishedCopies(databasePath);
  const bytes = bytesOf(databasePath);
  requireRoom(path, bytes);
  const now = clock.now();
  const copyPath = upgradeCopyPath(databasePath, from, SCHEMA_VERSION, now);
  const change = `the database from schema ${from} to ${SCHEMA_VERSION}`;
  events.onUpgrade(
    `Upgrading ${change}; a copy of its ${bytesText(bytes)} is made first. The port opens when it is done.`,
  );
  const order = { folder, from, copyPath, now, version, isDurable };
  await carryOut(order, bytes, (text) => events.onUpgrade(`Upgrading ${change}: ${text}`));
  return copyPath;
}

function carryOut(order: UpgradeOrder, bytes: number, report: (text: string) => void): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const thread = new Worker(new URL('./upgrade-thread.ts', import.meta.url).href);
  const began = performance.now();
  let at: UpgradeStep = { kind: 'copy' };
  const reporting = setInterval(
    () => report(`${stepText(at, order, bytes)}, ${secondsSince(began)} s`),
    REPORT_EVERY_MS,
  );
  thread.onmessage = ({ data: message }: MessageEvent<UpgradeMessage>) => {
    if (message.kind === 'step') at = message.step;
    else if (message.kind === 'done') ended.resolve();
    else if (message.code === undefined) ended.reject(new StartupError(message.message));
    else ended.reject(Object.assign(new Error(message.message), { code: message.code }));
  };
  thread.onerror = (event) => ended.reject(new Error(`the thread of the upgrade failed: ${event.message}`));
  thread.postMessage(order);
  return ended.promise.finally(() => {
    clearInterval(reporting);
    thread.terminate();
    clearUnfinishedCopies(order.folder.databasePath);
  });
}

function stepText(at: UpgradeStep, { copyPath, folder: { databasePath } }: UpgradeOrder, bytes: number): string {
  if (at.kind === 'copy') {
    const made = statSync(unfinishedCopy(copyPath), { throwIfNoEntry: false })?.size ?? 0;
    return `copied ${bytesText(Math.min(made, bytes))} of ${bytesText(bytes)}`;
  }
  if (at.kind === 'check') return 'the copy is looked through';
  const log = statSync(`${databasePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (at.kind === 'change') return `step ${at.step} of ${at.steps}, ${bytesText(log)} changed`;
  return 'done; what was changed is written into the database file';
}

const secondsSince = (began: number) => Math.round((performance.now() - began) / 1000);

function bytesOf(databasePath: string): number {
  using opened = openReadOnly(databasePath);
  using statement = opened.sqlite.prepare<{ bytes: number }, []>(
    'SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  );
  return statement.get()?.bytes ?? 0;
}

function requireRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = ROOM * bytes + LEAST_ROOM_BYTES;
  if (bavail * bsize >= needed) return;
  throw new StartupError(
    `The upgrade needs ${bytesText(needed)} at ${folder} for a copy of the database and for what it changes; ` +
      `${bytesText(bavail * bsize)} are free. Make room, then start again. Nothing was changed.`,
  );
}
