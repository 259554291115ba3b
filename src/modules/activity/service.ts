/**
 * Audit records of an application or workspace, newest first. A single filter uses an index, and a part of an address
 * that few have the index of addresses. The rest scans batches up to a bound; the next page continues from there.
 */
import { ID_PREFIXES } from '../../core/id.ts';
import { onlyOne } from '../../core/required.ts';
import { normalizeEmail } from '../../core/email.ts';
import { wholeUserId } from '../../core/search-text.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { type BatchRequest, searchInBatches } from '../../core/batched-search.ts';
import type { Database } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import { findAddresses } from '../../store/address-search.ts';
import { findAuditNames } from '../../store/audit-names.ts';
import type { AuditRecord } from '../../store/audit.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditScope,
  findAuditRecord,
  findAuditRecords,
  isIndexed,
  listAuditRecords,
  listAuditRecordsOf,
  scanAuditRecords,
} from '../../store/audit-lists.ts';
import type { ActivityQuery, AuthEvent } from './model.ts';
import { presentRecord } from './present.ts';

/** Rows in the first batch; mostly enough. */
const FIRST_STRETCH = 500;
/** Rows in further batches: a few milliseconds each. */
const STRETCH = 4000;

interface PageOptions {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export type Activity = ReturnType<typeof activityService>;

export function activityService(db: Database) {
  async function search(
    scope: AuditScope,
    filter: AuditFilter,
    after: AuditPosition | null,
    limit: number,
  ): Promise<Page<AuditPosition>> {
    let batches = 0;
    const { found, next } = await searchInBatches<AuditPosition, AuditPosition>({
      after,
      limit,
      batchSizes: { first: FIRST_STRETCH, further: STRETCH },
      positionOf: (position) => position,
      async scan(wanted) {
        batches += 1;
        // A common address is in the first batch, and the index would only cost time.
        const rest = batches === 2 ? await listByAddress(scope, filter, wanted) : null;
        if (rest) return { matches: rest, last: null, scanned: 0 };
        return scanAuditRecords(db.reader, scope, filter, wanted);
      },
    });
    return { items: found, nextCursor: next && encodeCursor(next) };
  }

  /** Returns the next matches by the index of addresses; null where a scan must find them. */
  async function listByAddress(
    scope: AuditScope,
    filter: AuditFilter,
    { after, limit }: BatchRequest<AuditPosition>,
  ): Promise<AuditPosition[] | null> {
    const { needle, email } = filter;
    if (needle === undefined || email !== undefined) return null;
    const emails = await findAddresses(db.reader, scope.workspaceId, needle);
    return emails && listAuditRecordsOf(db.reader, scope, filter, { emails, after, limit });
  }

  /** Skips records that retention has already deleted. */
  async function recordsAt(positions: readonly AuditPosition[]): Promise<AuditRecord[]> {
    const records = await findAuditRecords(
      db.reader,
      positions.map(([, id]) => id),
    );
    return positions.flatMap(([, id]) => records.get(id) ?? []);
  }

  async function present(
    { workspaceId }: AuditScope,
    records: readonly AuditRecord[],
    maySeeNames: boolean,
  ): Promise<AuthEvent[]> {
    const names = await findAuditNames(db.reader, workspaceId, records);
    return records.map((record) => presentRecord(record, names, maySeeNames));
  }

  async function positions(scope: AuditScope, filter: AuditFilter, { limit = DEFAULT_PAGE_SIZE, cursor }: PageOptions) {
    const after = cursor === undefined ? null : decodeCursor(cursor, ['number', 'string']);
    if (!isIndexed(scope, filter)) return search(scope, filter, after, limit);
    const found = await listAuditRecords(db.reader, scope, filter, { after, limit: limit + 1 });
    return pageOf(
      found,
      limit,
      (position) => position,
      (position) => position,
    );
  }

  return {
    /**
     * A page may be short and still have a next one, when the scan has reached its bound.
     *
     * @param maySeeNames whether the caller may see names of people.
     */
    async list(scope: AuditScope, query: ActivityQuery, maySeeNames: boolean): Promise<Page<AuthEvent>> {
      const { items, nextCursor } = await positions(scope, filterOf(query), query);
      return { items: await present(scope, await recordsAt(items), maySeeNames), nextCursor };
    },

    /** @throws {AppError} not_found */
    async get(scope: AuditScope, id: string, maySeeNames: boolean): Promise<AuthEvent> {
      const record = await findAuditRecord(db.reader, scope, id);
      if (!record) throw new AppError('not_found');
      return onlyOne(await present(scope, [record], maySeeNames));
    },
  };
}

/** @throws {AppError} invalid_request */
function filterOf(query: ActivityQuery): AuditFilter {
  const { status, family, country, email, reason, q, from, to, actorUserId, actorApiKeyId, requestId } = query;
  const personId = q === undefined ? null : wholeUserId(q);
  // Words that no address has, where another person or object is asked for.
  const isAbout = personId !== null && query.userId === undefined && query.targetId === undefined;
  const about = aboutOf(isAbout ? { ...query, userId: personId } : query);
  return {
    actorUserId,
    actorApiKeyId,
    requestId,
    ...about,
    ok: status === undefined ? undefined : status === 'ok',
    family,
    country: country?.toUpperCase(),
    reason,
    email: email === undefined ? undefined : (normalizeEmail(email) ?? email),
    needle: isAbout ? undefined : q?.toLowerCase().replace(/^@(?=.)/, ''),
    from: timeOf('from', from),
    to: timeOf('to', to),
  };
}

/** A person as the target is the person a record is about. @throws {AppError} invalid_request for two people */
function aboutOf({ userId, targetId }: ActivityQuery): Pick<AuditFilter, 'userId' | 'targetId'> {
  if (!targetId?.startsWith(`${ID_PREFIXES.user}_`)) return { userId, targetId };
  if (userId !== undefined && userId !== targetId)
    throw invalidField('targetId', 'Give one person: the same as userId, or an object.');
  return { userId: targetId };
}

function timeOf(path: string, text: string | undefined): number | undefined {
  const at = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(at)) throw invalidField(path, 'Give an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.');
  return at;
}
