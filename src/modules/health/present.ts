import { isoTime } from '../../core/clock.ts';
import type { DatabaseServer } from '../../db/database-server.ts';
import type { DatabaseSize, DatabaseStatus } from '../../db/database.ts';
import type { ListedInstance } from '../instances/overview.ts';
import type { DatabaseRecord, DatabaseServerRecord, ListedInstanceRecord } from './database-model.ts';

export function presentDatabase(
  schemaVersion: number,
  { logBytes }: Pick<DatabaseStatus, 'logBytes'>,
  { bytes, reusableBytes, freeBytes, server }: DatabaseSize,
): DatabaseRecord {
  return {
    bytes,
    reusableBytes,
    walBytes: logBytes,
    freeBytes,
    schemaVersion,
    server: server && presentServer(server),
  };
}

function presentServer({ bloatedTables, standbys, unsafeSettings, ...facts }: DatabaseServer): DatabaseServerRecord {
  return {
    ...facts,
    unsafeSettings: [...unsafeSettings],
    standbys: [...standbys],
    bloatedTables: bloatedTables.map(({ lastVacuumAt, ...table }) => ({
      ...table,
      lastVacuumAt: isoTime(lastVacuumAt),
    })),
  };
}

/** @param ownId id of the instance that answers. */
export function presentInstance(
  { id, host, version, startedAt, seenAt, clockOffsetMs, isAlive }: ListedInstance,
  ownId: string,
): ListedInstanceRecord {
  return {
    id,
    host,
    version,
    startedAt: isoTime(startedAt),
    lastSeenAt: isoTime(seenAt),
    clockOffsetMs,
    isAlive,
    isThis: id === ownId,
  };
}
