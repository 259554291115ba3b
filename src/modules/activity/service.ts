/**
 * An application's activity: its audit records, newest first. `status`, `family` and `country` are answered by an index;
 * `q` has to look at addresses one by one, so it goes in slices that let other requests through, and within a bound: what
 * it has not reached is left to the next page.
 */
import { isoTime } from '../../core/clock.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Database } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import type { Application } from '../../store/applications.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditRecord,
  findAuditRecords,
  listAuditRecords,
  scanAuditRecords,
} from '../../store/audit.ts';
import type { ActivityQuery, AuthEvent } from './model.ts';

/** Rows looked at before other requests get their turn: a few milliseconds. */
const SLICE = 5000;
/** Rows looked at for one page. */
const MAX_SCANNED = 250_000;

export type Activity = ReturnType<typeof activityService>;

/** Reads only, and lets other requests through while it searches. */
export function activityService(db: Database) {
  async function search(
    filter: AuditFilter,
    q: string,
    after: AuditPosition | null,
    limit: number,
  ): Promise<Page<AuthEvent>> {
    const needle = q.toLowerCase();
    const items: AuthEvent[] = [];
    let position = after;
    let left = limit;
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
      const slice = await scanAuditRecords(db.reader, filter, { after: position, needle, stretch: SLICE, limit: left });
      items.push(...(await recordsAt(slice.matches)));
      left -= slice.matches.length;
      const last = slice.matches.at(-1);
      if (last && left === 0) return { items, nextCursor: encodeCursor(last) };
      if (slice.scanned < SLICE) return { items, nextCursor: null };
      position = slice.last;
      await nextTurn();
    }
    return { items, nextCursor: position && encodeCursor(position) };
  }

  /** Retention may have taken one meanwhile; it is left out. */
  async function recordsAt(positions: readonly AuditPosition[]): Promise<AuthEvent[]> {
    const records = await findAuditRecords(
      db.reader,
      positions.map(([, id]) => id),
    );
    return positions.flatMap(([, id]) => records.get(id) ?? []).map(present);
  }

  return {
    /** A page may be short and still have a next one where `q` has looked at as much as it may. */
    async list(application: Application, query: ActivityQuery): Promise<Page<AuthEvent>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, q, status, family, country } = query;
      const after = cursor === undefined ? null : decodeCursor(cursor, ['number', 'string']);
      const filter = {
        applicationId: application.id,
        ok: status === undefined ? undefined : status === 'ok',
        family,
        country: country?.toUpperCase(),
      };
      if (q !== undefined) return search(filter, q, after, limit);
      const rows = await listAuditRecords(db.reader, filter, { after, limit: limit + 1 });
      return pageOf(rows, limit, ({ createdAt, id }) => [createdAt, id], present);
    },
  };
}

function present(row: AuditRecord): AuthEvent {
  const { id, kind, ok, userId, email, actorUserId, actorApiKeyId, targetId, requestId, ip, ipCountry, detail } = row;
  return {
    id,
    kind,
    ok,
    userId,
    email,
    actorType: row.actorType as AuthEvent['actorType'],
    actorUserId,
    actorApiKeyId,
    targetId,
    requestId,
    ip,
    ipCountry,
    detail,
    createdAt: isoTime(row.createdAt),
  };
}
