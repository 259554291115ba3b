/** `gatehouse backup verify`: restores a backup into a temporary folder, starts a server on it and checks readiness. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { isoTime, systemClock } from '../core/clock.ts';
import { StartupError } from '../core/startup-error.ts';
import { accessLog } from '../http/access-log.ts';
import { SETTINGS } from '../settings.ts';
import type { Command } from './arguments.ts';
import { backupOperand } from './backup-operand.ts';
import { requireFolder } from './postgres-backup.ts';
import { printable } from './sanitize.ts';
import { IDENTITY_FILE, keysOf } from './restore.ts';
import { progressLine } from './progress-line.ts';

/** Tables whose row counts let operators recognize their instance, in display order. */
const MAIN_TABLES = [
  'workspaces',
  'applications',
  'users',
  'application_users',
  'sessions',
  'api_keys',
  'webhooks',
  'events',
  'audit_records',
];

export const backupVerify: Command = {
  name: 'backup verify',
  group: 'data',
  summary: 'Check a backup: restore it to a temporary folder, start it and count its rows',
  operands: [{ name: 'FILE', meaning: 'Backup to read: a file, or s3://bucket/name.' }],
  settings: [{ ...SETTINGS.backupPassphraseFile, meaning: 'File with its passphrase, in one line.' }],
  options: { 'identity-file': IDENTITY_FILE },
  next: [
    'The instance starts on a free port of this machine, without jobs: it sends no',
    'mail and no webhooks. TMPDIR needs as much space as the database.',
  ],
  async run(flags, [file]) {
    const source = backupOperand(file);
    const given = loadConfig(process.env, { flags });
    requireFolder(given, 'backup verify');
    const { accessOf } = await import('../backup/plan.ts');
    const { restoreBackup } = await import('../backup/restore.ts');
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-verify-'));
    const clear = () => rmSync(folder, { recursive: true, force: true });
    const giveUp = () => {
      clear();
      process.exit(130);
    };
    process.once('SIGINT', giveUp);
    process.once('SIGTERM', giveUp);
    const line = progressLine();
    try {
      const dataFolder = join(folder, 'data');
      const order = { source, access: accessOf(given), keys: await keysOf(given, flags), dataFolder, isForced: false };
      const { contents } = await restoreBackup({ ...order, now: systemClock.now() }, (step, bytes) =>
        line.show(step === 'fetch' ? 'reading' : 'checking', bytes),
      );
      line.show('starting', 0);
      await startAndAsk(dataFolder, file ?? '');
      line.end();
      const { madeAt, version, schemaVersion, rows, rowCount, danglingRows } = contents;
      const known = MAIN_TABLES.filter((name) => rows[name] !== undefined);
      const width = Math.max(...known.map((name) => name.length), 'all tables'.length);
      const row = (name: string, count: number) =>
        `  ${name.replaceAll('_', ' ').padEnd(width)}  ${count.toLocaleString('en').padStart(15)}`;
      process.stdout.write(
        [
          `${file} is good: it was restored, started and answered.`,
          `  of ${isoTime(madeAt)}, version ${printable(version)}, schema ${schemaVersion}`,
          ...known.map((name) => row(name, rows[name] ?? 0)),
          row('all tables', rowCount),
          ...(danglingRows > 0 ? [`  Warning: ${danglingRows} rows refer to missing rows.`] : []),
          '',
        ].join('\n'),
      );
      return 0;
    } finally {
      line.end();
      process.off('SIGINT', giveUp);
      process.off('SIGTERM', giveUp);
      clear();
    }
  },
};

/** Ignores the environment's settings: the drill must not use another instance's mail server or keys. */
async function startAndAsk(dataFolder: string, file: string): Promise<void> {
  const config = loadConfig({ GATEHOUSE_DATA: dataFolder, GATEHOUSE_PORT: '0', GATEHOUSE_HOST: '127.0.0.1' });
  const { createLog, logDestination } = await import('../log.ts');
  const { startServer } = await import('../server.ts');
  const log = createLog('silent', logDestination(2));
  const server = await startServer(config, { log, accessLog: accessLog(null), isDrill: true });
  try {
    // Read to its end: an unread body would delay the stop.
    const answer = await fetch(`${server.url.replace('localhost', '127.0.0.1')}/readyz`);
    const said = await answer.text();
    if (!answer.ok) throw new StartupError(`${file} was restored and started, but is not ready: ${said}`);
  } finally {
    await server.stop();
  }
}
