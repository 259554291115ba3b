import { type Static, Type } from '@sinclair/typebox';
import { Nullable, Timestamp } from '../../http/schemas.ts';

const StandbySchema = Type.Object(
  {
    name: Nullable(Type.String({ examples: ['standby-1'] })),
    state: Nullable(Type.String({ examples: ['streaming'] })),
    syncState: Nullable(Type.String({ examples: ['sync'] })),
    lagBytes: Nullable(Type.Integer({ description: 'Log that it has not replayed yet.', examples: [0] })),
    lagMs: Nullable(Type.Integer({ description: 'Null also while there is nothing to replay.', examples: [12] })),
  },
  {
    $id: 'DatabaseStandby',
    description: 'Null where the role of the database may not see it: GRANT pg_read_all_stats.',
  },
);

const BloatedTableSchema = Type.Object(
  {
    table: Type.String({ examples: ['sessions'] }),
    liveRows: Type.Integer({ examples: [20_000] }),
    deadRows: Type.Integer({ examples: [250_000] }),
    lastVacuumAt: Nullable(Timestamp()),
  },
  { $id: 'BloatedTable' },
);

const DatabaseServerSchema = Type.Object(
  {
    version: Type.String({ examples: ['18.4'] }),
    host: Type.String({ description: 'Hosts and ports.', examples: ['db.example.com:5432'] }),
    database: Type.String({ examples: ['gatehouse'] }),
    connections: Type.Object(
      {
        own: Type.Integer({ description: 'By the role of this instance, on this database.', examples: [20] }),
        all: Type.Integer({ examples: [25] }),
        most: Type.Integer({ description: 'Number that ordinary roles may have.', examples: [97] }),
      },
      { $id: 'DatabaseConnections' },
    ),
    standbys: Type.Array(StandbySchema),
    synchronousCommit: Type.String({ examples: ['on'] }),
    synchronousStandbyNames: Type.String({ examples: ['FIRST 1 (standby)'] }),
    unsafeSettings: Type.Array(Type.String({ examples: ['fsync'] }), {
      description: 'Settings that are off, and without which a crash can destroy the database.',
    }),
    hasChecksums: Type.Boolean({ description: 'Whether the server checks its pages as it reads them.' }),
    isAutovacuumOn: Type.Boolean(),
    oldestTransactionMs: Nullable(
      Type.Integer({ description: 'Age of the oldest open transaction that can be seen.', examples: [35] }),
    ),
    hiddenSessions: Type.Integer({ description: 'Sessions of other roles, which cannot be seen.', examples: [0] }),
    bloatedTables: Type.Array(BloatedTableSchema, {
      description: 'At most five tables with more dead than live rows.',
    }),
    transactionIdAge: Type.Integer({
      description: 'The server takes no changes from about 2,146,000,000 on.',
      examples: [1204],
    }),
  },
  { $id: 'DatabaseServer', description: 'Null with a data folder.' },
);
export type DatabaseServerRecord = Static<typeof DatabaseServerSchema>;

export const DatabaseSchema = Type.Object(
  {
    bytes: Type.Integer({ examples: [1_048_576] }),
    reusableBytes: Nullable(
      Type.Integer({
        description: 'Part of these bytes that deletions freed: later rows reuse it; the file does not shrink.',
        examples: [65_536],
      }),
    ),
    walBytes: Nullable(Type.Integer({ description: 'Size of its write-ahead log.', examples: [4_194_304] })),
    freeBytes: Nullable(Type.Integer({ description: 'Free bytes on its disk.', examples: [8_589_934_592] })),
    schemaVersion: Type.Integer({ examples: [10] }),
    server: Nullable(DatabaseServerSchema),
  },
  { $id: 'InstanceDatabase', description: 'On PostgreSQL its disk and log are not known.' },
);
export type DatabaseRecord = Static<typeof DatabaseSchema>;

export const ListedInstanceSchema = Type.Object(
  {
    id: Type.String({ examples: ['k3J9sLQ2dX0a'] }),
    host: Type.String({ examples: ['gatehouse-7c9d'] }),
    version: Type.String({ examples: ['1.0.0'] }),
    startedAt: Timestamp(),
    lastSeenAt: Timestamp(),
    clockOffsetMs: Type.Integer({ description: 'Its clock minus that of the database.', examples: [3] }),
    isAlive: Type.Boolean({ description: 'Whether it was seen within 30 seconds.' }),
    isThis: Type.Boolean({ description: 'Whether it gave this answer.' }),
  },
  { $id: 'ListedInstance' },
);
export type ListedInstanceRecord = Static<typeof ListedInstanceSchema>;
