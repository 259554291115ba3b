/** `gatehouse restore`: restores a backup into a data folder, completely or not at all. */
import { resolve } from 'node:path';
import type { Keys } from '../backup/encryption.ts';
import { type Config, type Flags, loadConfig } from '../config.ts';
import { isoTime, systemClock } from '../core/clock.ts';
import { SETTINGS } from '../settings.ts';
import type { Command, Option } from './arguments.ts';
import { placeOperand } from './place-operand.ts';
import { printable } from './printable.ts';
import { stepLine } from './step-line.ts';

export const IDENTITY_FILE: Option = {
  value: 'FILE',
  meaning: 'What opens a backup for an age recipient, as age-keygen writes it.',
};

const STEPS = { fetch: 'reading', check: 'checking', place: 'putting in place' } as const;

export const restore: Command = {
  name: 'restore',
  group: 'data',
  summary: 'Bring a backup back into a data folder that no server runs on',
  operands: [{ name: 'FILE', meaning: 'What "gatehouse backup" has made: a file, or s3://bucket/name.' }],
  settings: [SETTINGS.dataFolder, { ...SETTINGS.backupPassphraseFile, meaning: 'What opens it, in one line.' }],
  options: { 'identity-file': IDENTITY_FILE },
  switches: { force: 'Also into a folder that is not empty; what is there is set aside in it.' },
  async run(flags, [file]) {
    const source = placeOperand(file);
    const config = loadConfig(process.env, { flags });
    const dataFolder = resolve(config.dataFolder);
    const { accessOf } = await import('../backup/plan.ts');
    const { restoreBackup } = await import('../backup/restore.ts');
    const line = stepLine();
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
        `It is of ${isoTime(madeAt)}, made by version ${printable(version)}: ${rowCount.toLocaleString('en')} rows, of ${rows['applications'] ?? 0} applications and ${rows['users'] ?? 0} users.`,
        ...(aside ? [`What was there before is in ${aside}; remove it when all is well.`] : []),
        'What happened since then is not in it: sessions and keys that were ended since work again.',
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
