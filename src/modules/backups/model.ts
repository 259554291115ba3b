import { type Static, Type } from '@sinclair/typebox';
import { Choice, Id, Nullable, Timestamp } from '../../http/schemas.ts';

export const BackupRunSchema = Type.Object(
  {
    id: Id('bkp'),
    cause: Choice(['schedule', 'manual'], { $id: 'BackupCause' }),
    status: Choice(['running', 'succeeded', 'failed', 'interrupted'], {
      $id: 'BackupStatus',
      description: '`interrupted` if the server stopped meanwhile; it is repeated soon.',
    }),
    place: Type.String({ examples: ['s3://backups/auth/gatehouse-3fa9c2d1-20260302T030000Z.db.age'] }),
    isEncrypted: Type.Boolean(),
    startedAt: Timestamp(),
    endedAt: Nullable(Timestamp()),
    bytes: Nullable(Type.Integer({ examples: [52_428_800] })),
    rows: Nullable(Type.Integer({ examples: [184_220] })),
    sha256: Nullable(Type.String({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] })),
    error: Nullable(
      Type.String({
        description: 'Why it failed, with the remedy; for a good backup, why older ones could not be removed.',
        examples: ['There is no room for the backup in /backups. Make room, or name another place.'],
      }),
    ),
  },
  { $id: 'BackupRun' },
);
export type BackupRunRecord = Static<typeof BackupRunSchema>;

export const BackupsSchema = Type.Object(
  {
    place: Nullable(
      Type.String({ description: 'Null if GATEHOUSE_BACKUP_TO is not set.', examples: ['s3://backups/auth'] }),
    ),
    commands: Nullable(
      Type.Object(
        {
          backup: Type.String({ examples: ['pg_dump --format=custom --file=gatehouse.dump DATABASE_URL'] }),
          restore: Type.String({
            examples: ['pg_restore --exit-on-error --no-owner --dbname=DATABASE_URL gatehouse.dump'],
          }),
        },
        {
          $id: 'BackupCommands',
          description: 'On PostgreSQL, whose own tools make the backups; the server makes none there.',
        },
      ),
    ),
    schedule: Type.String({ description: 'The schedule as set; times are UTC.', examples: ['daily 03:00'] }),
    keep: Type.Object(
      {
        count: Nullable(Type.Integer({ description: 'Number of newest backups to keep.', examples: [14] })),
        days: Nullable(
          Type.Integer({ description: 'Keeps backups younger than this number of days.', examples: [30] }),
        ),
      },
      { $id: 'BackupKeep' },
    ),
    isEncrypted: Type.Boolean(),
    isRunning: Type.Boolean(),
    nextAt: Nullable(Timestamp()),
    lastGoodAt: Nullable(Timestamp()),
    runs: Type.Array(BackupRunSchema, { description: 'The newest fifty, newest first.' }),
  },
  { $id: 'Backups' },
);
export type BackupsRecord = Static<typeof BackupsSchema>;
