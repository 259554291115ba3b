/**
 * An application's activity: its audit records, newest first. `status`, `family` and `country` are answered by an index;
 * `q` has to look at addresses one by one, so it goes in slices that let other requests through, and within a bound: what
 * it has not reached is left to the next page.
 */
import { and, desc, eq, sql } from 'drizzle-orm';
import { isoTime } from '../../core/clock.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Application } from '../../db/schema/applications.ts';
import { auditRecords } from '../../db/schema/records.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import type { ActivityQuery, AuthEvent } from './model.ts';

type AuditRow = typeof auditRecords.$inferSelect;
type Position = readonly [createdAt: number, id: string];

/** Rows looked at before other requests get their turn: a few milliseconds. */
const SLICE = 5000;
/** Rows looked at for one page. */
const MAX_SCANNED = 250_000;

export type Activity = ReturnType<typeof activityService>;

export function activityService(db: Database) {
  function conditions({ id }: Application, { status, family, country }: ActivityQuery, after: Position | null) {
    return [
      eq(auditRecords.applicationId, id),
      // Written out, so that the partial index of errors is recognised.
      status === 'error' ? sql`ok = 0` : status === 'ok' ? sql`ok = 1` : undefined,
      family === undefined ? undefined : sql`family = ${family}`,
      country === undefined ? undefined : eq(auditRecords.ipCountry, country.toUpperCase()),
      after === null ? undefined : sql`(${auditRecords.createdAt}, ${auditRecords.id}) < (${after[0]}, ${after[1]})`,
    ];
  }

  function read(application: Application, query: ActivityQuery, after: Position | null, limit: number): AuditRow[] {
    return db.orm
      .select()
      .from(auditRecords)
      .where(and(...conditions(application, query, after)))
      .orderBy(desc(auditRecords.createdAt), desc(auditRecords.id))
      .limit(limit)
      .all();
  }

  /** A slice of positions with whether each matches; cheaper than reading whole rows that mostly do not. */
  function scan(application: Application, query: ActivityQuery, after: Position | null, needle: string) {
    return db.orm
      .select({
        createdAt: auditRecords.createdAt,
        id: auditRecords.id,
        isMatch: sql<number>`instr(lower(coalesce(${auditRecords.email}, '')), ${needle}) > 0`,
      })
      .from(auditRecords)
      .where(and(...conditions(application, query, after)))
      .orderBy(desc(auditRecords.createdAt), desc(auditRecords.id))
      .limit(SLICE)
      .all();
  }

  function byId(id: string): AuditRow {
    return db.orm.select().from(auditRecords).where(eq(auditRecords.id, id)).get()!;
  }

  async function search(application: Application, query: ActivityQuery, after: Position | null, limit: number) {
    const needle = query.q!.toLowerCase();
    const items: AuthEvent[] = [];
    let position = after;
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
      const slice = scan(application, query, position, needle);
      for (const { createdAt, id, isMatch } of slice) {
        position = [createdAt, id];
        if (isMatch) items.push(present(byId(id)));
        if (items.length === limit) return { items, nextCursor: encodeCursor(position) };
      }
      if (slice.length < SLICE) return { items, nextCursor: null };
      await Bun.sleep(0);
    }
    return { items, nextCursor: position && encodeCursor(position) };
  }

  return {
    /** A page may be short and still have a next one where `q` has looked at as much as it may. */
    async list(application: Application, query: ActivityQuery): Promise<Page<AuthEvent>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, q } = query;
      const after = cursor === undefined ? null : decodeCursor(cursor, ['number', 'string']);
      if (q !== undefined) return search(application, query, after, limit);
      return pageOf(read(application, query, after, limit + 1), limit, ({ createdAt, id }) => [createdAt, id], present);
    },
  };
}

function present(row: AuditRow): AuthEvent {
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
