/**
 * Audit records of an application or workspace, newest first. A single filter uses an index; several filters and
 * partial addresses scan batches up to a bound, and the next page continues from there.
 */
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { searchInBatches } from '../../core/batched-search.ts';
import type { Database } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditScope,
  findAuditRecord,
  findAuditRecords,
  isIndexed,
  listAuditRecords,
  scanAuditRecords,
} from '../../store/audit-lists.ts';
import type { ActivityQuery, AuthEvent } from './model.ts';
import { presentRecord } from './present.ts';

/** Rows in the first batch; mostly enough. */
const FIRST_STRETCH = 500;
/** Rows in further batches: a few milliseconds each. */
const STRETCH = 5000;

export type Activity = ReturnType<typeof activityService>;

export function activityService(db: Database) {
  async function search(
    scope: AuditScope,
    filter: AuditFilter,
    after: AuditPosition | null,
    limit: number,
  ): Promise<Page<AuthEvent>> {
    const { found, next } = await searchInBatches<AuditPosition, AuditPosition>({
      after,
      limit,
      batchSizes: { first: FIRST_STRETCH, further: STRETCH },
      positionOf: (position) => position,
      scan: (wanted) => scanAuditRecords(db.reader, scope, filter, wanted),
    });
    return { items: await recordsAt(found), nextCursor: next && encodeCursor(next) };
  }

  /** Skips records that retention has already deleted. */
  async function recordsAt(positions: readonly AuditPosition[]): Promise<AuthEvent[]> {
    const records = await findAuditRecords(
      db.reader,
      positions.map(([, id]) => id),
    );
    return positions.flatMap(([, id]) => records.get(id) ?? []).map(presentRecord);
  }

  return {
    /** A page may be short and still have a next one, when the scan has reached its bound. */
    async list(scope: AuditScope, query: ActivityQuery): Promise<Page<AuthEvent>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
      const after = cursor === undefined ? null : decodeCursor(cursor, ['number', 'string']);
      const filter = filterOf(query);
      if (!isIndexed(scope, filter)) return search(scope, filter, after, limit);
      const positions = await listAuditRecords(db.reader, scope, filter, { after, limit: limit + 1 });
      const { items, nextCursor } = pageOf(
        positions,
        limit,
        (position) => position,
        (position) => position,
      );
      return { items: await recordsAt(items), nextCursor };
    },

    /** @throws {AppError} not_found */
    async get(scope: AuditScope, id: string): Promise<AuthEvent> {
      const record = await findAuditRecord(db.reader, scope, id);
      if (!record) throw new AppError('not_found');
      return presentRecord(record);
    },
  };
}

/** @throws {AppError} invalid_request */
function filterOf({ status, family, country, userId, email, q, from, to }: ActivityQuery): AuditFilter {
  return {
    ok: status === undefined ? undefined : status === 'ok',
    family,
    country: country?.toUpperCase(),
    userId,
    email: email === undefined ? undefined : (normalizeEmail(email) ?? email),
    needle: q?.toLowerCase(),
    from: timeOf('from', from),
    to: timeOf('to', to),
  };
}

function timeOf(path: string, text: string | undefined): number | undefined {
  const at = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(at)) throw invalidField(path, 'Give an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.');
  return at;
}
