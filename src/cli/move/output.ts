/** Texts of `gatehouse move`: progress on one line, when to stop the server, and what to do next. */
import { secondsText } from '../../core/quantities.ts';
import type { Moved, MoveProgress, MoveStep } from '../../db/move/move.ts';
import { findServer } from '../../db/sqlite/running-server.ts';
import { quoted } from '../../db/sqlite/data-folder.ts';
import { UNMOVED_TABLES } from '../../store/unmoved-tables.ts';
import { showLine } from '../progress-line.ts';
import type { Sides } from './sides.ts';

const STEPS: Readonly<Record<MoveStep, string>> = {
  copy: 'copying',
  indexes: 'creating indexes…',
  'catch up': 'updating',
  wait: 'waiting for it…',
  verify: 'comparing',
  complete: 'checking references…',
};

/** Time between two updates of the line. */
const SHOW_MS = 200;

export function moveProgress({ folder }: Pick<Sides, 'folder'>): MoveProgress & { end(): void } {
  let step: MoveStep = 'copy';
  let shownAt = 0;
  return {
    onStep(next) {
      step = next;
      shownAt = 0;
      showLine(null);
      if (step === 'wait') process.stderr.write(`${waitText(folder)}\n`);
      showLine(STEPS[step].endsWith('…') ? STEPS[step] : `${STEPS[step]}…`);
    },
    onRows(table, rows, all) {
      const now = performance.now();
      if (now - shownAt < SHOW_MS) return;
      shownAt = now;
      const share = Math.min(99, Math.floor((100 * rows) / Math.max(1, all)));
      showLine(`${STEPS[step]} ${table.replaceAll('_', ' ')}… ${rows.toLocaleString('en')} rows (${share} %)`);
    },
    end: () => showLine(null),
  };
}

function waitText(folder: string | null): string {
  if (folder === null) return 'Waiting for changes that hold tables locked.';
  const pid = findServer(folder)?.note?.pid;
  return `Stop the server${pid === undefined ? '' : ` (process ${pid})`} now. The rest is copied once it has stopped.`;
}

export function movedText({ from, to, access }: Sides, { tables, rows, sha256 }: Moved, durationMs: number): string {
  const counts = `${rows.toLocaleString('en')} rows of ${tables.length} tables in ${secondsText(durationMs)}`;
  const left = Object.entries(UNMOVED_TABLES).map(([table, why]) => `${table} (${why})`);
  return [
    `Moved ${from} to ${to}: ${counts}.`,
    `Both sides are equal, sha-256 ${sha256}.`,
    `Left behind: ${left.join(', ')}.`,
    '',
    ...(access === null ? nextInFolder(from, to) : nextOnPostgres(from, access)),
    '',
  ].join('\n');
}

function nextOnPostgres(from: string, { shown, keyPath }: NonNullable<Sides['access']>): string[] {
  return [
    'Start each server with the address of the database and a copy of the key:',
    `  GATEHOUSE_DATABASE_URL=postgres://USER:PASSWORD@${shown}`,
    `  GATEHOUSE_INSTANCE_KEY_FILE=${quoted(keyPath)}`,
    `No server starts on ${from} any more. Keep its key; remove the rest once the database has a backup.`,
  ];
}

function nextInFolder(from: string, to: string): string[] {
  return [
    'Stop every server on the database, which takes no changes any more. Then, without GATEHOUSE_DATABASE_URL:',
    `  gatehouse serve --data ${quoted(to)}`,
    `The folder has the instance key. Drop what is in ${from} once the folder has a backup.`,
  ];
}
