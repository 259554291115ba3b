/** Changes many users, each as a single call would, in short changes; an interrupted call can be repeated. */
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import type { ChangeOutcome } from '../../http/schemas.ts';
import type { Application } from '../../store/applications.ts';
import { findMemberWithUser } from '../../store/members.ts';
import { changeGrantsOf, kindsOf, refuseBoth, refuseUnknown } from './grant-changes.ts';
import type { GrantsChange, GrantsChanged, UsersChange, UsersChanged } from './model.ts';
import { changeStatus } from './status.ts';

/** Users per change, and slugs given or taken there: some milliseconds. */
const BATCH = 10;
const SLUGS_PER_BATCH = 100;

type StatusResult = UsersChanged['results'][number];
type GrantsResult = GrantsChanged['results'][number];

export type BatchChanges = ReturnType<typeof batchChanges>;

export function batchChanges(db: Database) {
  /** @param before runs once in each change. @param size users per change. */
  async function inBatches<Result>(
    actor: Actor,
    userIds: readonly string[],
    work: (unit: Unit, userId: string) => Promise<Result>,
    before: (unit: Unit) => Promise<void> = async () => {},
    size = BATCH,
  ): Promise<Result[]> {
    const results: Result[] = [];
    for (let from = 0; from < userIds.length; from += size) {
      const done = await db.write(actor, async (unit) => {
        await before(unit);
        const slice: Result[] = [];
        for (const userId of userIds.slice(from, from + size)) slice.push(await work(unit, userId));
        return slice;
      });
      results.push(...done);
    }
    return results;
  }

  return {
    async changeStatus(
      actor: Actor,
      application: Application,
      { action, userIds, reason }: UsersChange,
    ): Promise<UsersChanged> {
      const results = await inBatches(actor, userIds, async (unit, userId): Promise<StatusResult> => {
        const row = await findMemberWithUser(unit, application.id, userId);
        if (!row) return { userId, outcome: 'not_found' };
        try {
          const { isChanged, row: changed } = await changeStatus(unit, application, row, { action, reason });
          return { userId, outcome: isChanged ? 'changed' : 'unchanged', status: changed.member.status };
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          const { code, message } = error;
          return { userId, outcome: 'refused', status: row.member.status, error: code, message };
        }
      });
      return { summary: summaryOf(results), results };
    },

    /** @throws {AppError} invalid_request naming each slug that does not exist, or that is both added and removed. */
    async changeGrants(actor: Actor, application: Application, change: GrantsChange): Promise<GrantsChanged> {
      refuseBoth(change);
      const check = (reader: Reader) => refuseUnknown(reader, application.id, change);
      const work = async (unit: Unit, userId: string): Promise<GrantsResult> => {
        const row = await findMemberWithUser(unit, application.id, userId);
        if (!row) return { userId, outcome: 'not_found' };
        const { isChanged, held } = await changeGrantsOf(unit, row.member, change);
        return { userId, outcome: isChanged ? 'changed' : 'unchanged', ...held };
      };
      const results = await inBatches(actor, change.userIds, work, check, sizeOf(change));
      return { summary: summaryOf(results), results };
    },
  };
}

/** Returns fewer users per change for more slugs, because other writers wait for each change. */
function sizeOf(change: GrantsChange): number {
  const sides = kindsOf(change).flatMap((kind) => [change[kind]?.add ?? [], change[kind]?.remove ?? []]);
  const slugs = sides.reduce((sum, { length }) => sum + length, 0);
  return Math.min(BATCH, Math.max(1, Math.floor(SLUGS_PER_BATCH / Math.max(1, slugs))));
}

function summaryOf(results: readonly { readonly outcome: ChangeOutcome }[]): UsersChanged['summary'] {
  const changed = results.filter(({ outcome }) => outcome === 'changed').length;
  return { requested: results.length, changed, skipped: results.length - changed };
}
