/** `gatehouse restore`: restores a backup into a data folder, completely or not at all. */
import { resolve } from 'node:path';
import type { Keys } from '../backup/encryption.ts';
import { type Config, type Flags, loadConfig } from '../config.ts';
import { isoTime, systemClock } from '../core/clock.ts';
import { SETTINGS } from '../settings.ts';
import type { Command, Option } from './arguments.ts';
import { backupOperand } from './backup-operand.ts';
import { requireFolder } from './postgres-backup.ts';
import { printable } from './sanitize.ts';
import { progressLine } from './progress-line.ts';

export const IDENTITY_FILE: Option = {
  value: 'FILE',
  meaning: 'File with the age identity of a recipient, as age-keygen writes it.',
};

const STEPS = { fetch: 'reading', check: 'checking', place: 'moving into place' } as const;

export const restore: Command = {
  name: 'restore',
  group: 'data',
  summary: 'Restore a backup into a data folder that no server uses',
  operands: [{ name: 'FILE', meaning: 'Backup to read: a file, or s3://bucket/name.' }],
  settings: [
    SETTINGS.dataFolder,
    { ...SETTINGS.backupPassphraseFile, meaning: 'File with its passphrase, in one line.' },
  ],
  options: { 'identity-file': IDENTITY_FILE },
  switches: { force: 'Also into a folder that is not empty; its files are moved aside within it.' },
  async run(flags, [file]) {
    const source = backupOperand(file);
    const config = loadConfig(process.env, { flags });
    requireFolder(config, 'restore');
    const dataFolder = resolve(config.dataFolder);
    const { accessOf } = await import('../backup/plan.ts');
    const { restoreBackup } = await import('../backup/restore.ts');
    const line = progressLine();
    const order = {
      source,
      access: accessOf(config),
      keys: await keysOf(config, flags),
      dataFolder,
      isForced: flags['force'] === true,
      now: systemClock.now(),
    };
    const { contents, aside } = await restoreBackup(order, (step, bytes) => line.show(STEPS[step], bytes)).finally(() =>
      line.end(),
    );
    const { madeAt, version, rowCount, rows } = contents;
    process.stdout.write(
      [
        `Restored ${file} into ${dataFolder}.`,
        `It was made at ${isoTime(madeAt)} by version ${printable(version)}: ${rowCount.toLocaleString('en')} rows, of ${rows['applications'] ?? 0} applications and ${rows['users'] ?? 0} users.`,
        ...(aside ? [`The previous files are in ${aside}; remove them once everything works.`] : []),
        'Later changes are missing: sessions and keys that were revoked since then work again.',
        `Next: gatehouse serve --data ${dataFolder}`,
        '',
      ].join('\n'),
    );
    return 0;
  },
};

/** Reads the decryption keys of a backup. @throws {StartupError} */
export async function keysOf({ backupPassphraseFile }: Config, flags: Flags): Promise<Keys> {
  const { readIdentities, readPassphrase } = await import('../backup/restore.ts');
  const identityFile = flags['identity-file'];
  return {
    passphrase: backupPassphraseFile === null ? null : readPassphrase(backupPassphraseFile, { isNew: false }),
    identities: typeof identityFile === 'string' ? readIdentities(identityFile) : [],
  };
}
