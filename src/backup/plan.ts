/** Derives access and encryption of backups from the settings. */
import { StartupError } from '../core/startup-error.ts';
import { isEncrypted, type Locks } from './encryption.ts';
import type { Keep } from './names.ts';
import type { BucketAccess, BackupPlace } from './place.ts';
import { readPassphrase } from './restore.ts';
import type { Schedule } from './schedule.ts';

export interface BackupSettings {
  readonly dataFolder: string;
  readonly backupTo: BackupPlace | null;
  readonly backupSchedule: Schedule;
  readonly backupKeep: Keep;
  readonly backupRecipients: readonly string[] | null;
  readonly backupPassphraseFile: string | null;
  readonly s3Endpoint: string | null;
  readonly s3Region: string | null;
  readonly s3AccessKeyId: string | null;
  readonly s3SecretAccessKey: string | null;
}

export function accessOf(settings: BackupSettings): BucketAccess {
  const { s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey } = settings;
  return { endpoint: s3Endpoint, region: s3Region, accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
}

/** @throws {StartupError} if both are given, or the passphrase is unusable. */
export function locksOf({ backupRecipients, backupPassphraseFile }: BackupSettings): Locks {
  if (backupRecipients !== null && backupPassphraseFile !== null)
    throw new StartupError('Give a recipient or a passphrase file, not both: a backup is opened by one of them.');
  const passphrase = backupPassphraseFile === null ? null : readPassphrase(backupPassphraseFile, { isNew: true });
  return { recipients: backupRecipients ?? [], passphrase };
}

/** Returns whether backups are to be encrypted, without reading the passphrase. */
export function isEncryptionSet({ backupRecipients, backupPassphraseFile }: BackupSettings): boolean {
  return isEncrypted({ recipients: backupRecipients ?? [], passphrase: backupPassphraseFile });
}
