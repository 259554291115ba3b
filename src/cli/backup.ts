/** `gatehouse backup`: writes a complete, verified copy of the instance to one file while its server runs. */
import { createReadStream, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { MadeBackup } from '../backup/make.ts';
import type { BackupPlace } from '../backup/place.ts';
import type { BackupRun } from '../backup/run.ts';
import { loadConfig } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { bytesText, secondsText } from '../core/quantities.ts';
import { pathsIn, requireDatabase } from '../db/sqlite/data-folder.ts';
import { SETTINGS } from '../settings.ts';
import { VERSION } from '../version.ts';
import type { Command } from './arguments.ts';
import { backupOperand } from './backup-operand.ts';
import { requireFolder } from './postgres-backup.ts';
import { progressLine } from './progress-line.ts';

const STEPS = { copy: 'copying', check: 'checking', encrypt: 'encrypting', upload: 'uploading' } as const;
const POLL_MS = 200;

export const backup: Command = {
  name: 'backup',
  group: 'data',
  summary: 'Write database and key to one verified file',
  operands: [{ name: 'FILE', meaning: 'Destination: a file, s3://bucket/name, or - for standard output.' }],
  settings: [SETTINGS.dataFolder, SETTINGS.backupRecipients, SETTINGS.backupPassphraseFile],
  switches: { force: 'Replace FILE if it exists.' },
  next: [
    'The server can keep running.',
    '',
    'To check a backup:   gatehouse backup verify FILE',
    'To restore a backup: gatehouse restore FILE',
  ],
  async run(flags, [file]) {
    const config = loadConfig(process.env, { flags });
    requireFolder(config, 'backup');
    const dataFolder = resolve(config.dataFolder);
    const { isEncrypted } = await import('../backup/encryption.ts');
    const { PIPED_NAME } = await import('../backup/make.ts');
    const { accessOf, locksOf } = await import('../backup/plan.ts');
    const { startBackup } = await import('../backup/run.ts');
    const { requireNoRestore } = await import('../db/sqlite/atomic-restore.ts');
    const pipedPath = file === '-' ? join(dataFolder, PIPED_NAME) : null;
    const target: BackupPlace = pipedPath === null ? backupOperand(file) : { kind: 'disk', path: pipedPath };
    const locks = locksOf(config);
    requireNoRestore(dataFolder);
    const folder = pathsIn(dataFolder);
    requireDatabase(folder);
    process.umask(0o077);
    // A closed pipe ends the process, so the temporary file is removed on exit.
    if (pipedPath !== null) process.once('exit', () => rmSync(pipedPath, { force: true }));
    const run = startBackup({
      dataFolder,
      target,
      isReplacing: pipedPath !== null || flags['force'] === true,
      access: accessOf(config),
      locks,
      now: systemClock.now(),
      version: VERSION,
      keep: null,
    });
    const made = await watched(run, folder.databasePath);
    if (pipedPath !== null) await toStdout(pipedPath);
    printResult(made, pipedPath === null ? made.place : 'standard output', isEncrypted(locks));
    return 0;
  },
};

async function watched(run: BackupRun, databasePath: string): Promise<MadeBackup> {
  const line = progressLine();
  const whole = statSync(databasePath).size;
  const look = setInterval(() => {
    const { step, bytes } = run.progress();
    line.show(STEPS[step], bytes, step === 'copy' || step === 'encrypt' ? whole : null);
  }, POLL_MS);
  const giveUp = () => {
    run.cancel();
    line.end();
    process.exit(130);
  };
  process.once('SIGINT', giveUp);
  process.once('SIGTERM', giveUp);
  try {
    return await run.done;
  } finally {
    clearInterval(look);
    line.end();
    process.off('SIGINT', giveUp);
    process.off('SIGTERM', giveUp);
  }
}

async function toStdout(path: string): Promise<void> {
  const { pipeline } = await import('node:stream/promises');
  await pipeline(createReadStream(path), process.stdout, { end: false });
}

function printResult(made: MadeBackup, place: string, isLocked: boolean): void {
  const { bytes, contents, durationMs, sha256 } = made;
  const rows = contents.rowCount.toLocaleString('en');
  const lines = [`${place}: ${bytesText(bytes)}, ${rows} rows, ${secondsText(durationMs)}, sha-256 ${sha256}`];
  if (contents.danglingRows > 0)
    lines.push(`Warning: ${contents.danglingRows} rows refer to missing rows, as they did in the database.`);
  if (!isLocked)
    lines.push(
      'It is not encrypted, and holds the instance key: keep it as safe as the server (--recipient, --passphrase-file).',
    );
  process.stderr.write(`${lines.join('\n')}\n`);
}
