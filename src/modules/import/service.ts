/**
 * Bulk import of users and the username check before it. Idempotent, with one outcome per row; sends no mail and
 * verifies no address. Runs in several transactions to let other writers in.
 */
import type { Actor } from '../../core/actor.ts';
import { required } from '../../core/required.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { amendAudit, recordAudit } from '../../store/audit.ts';
import { ALL_KINDS } from '../../store/grants.ts';
import { findUsernameHolders } from '../../store/handles.ts';
import { type ImportedChunk, importChunk } from './chunk.ts';
import type { ImportResult, ImportRow, ImportOutcome, UsernameCheck } from './model.ts';
import { cleanRow } from './rows.ts';

/** Rows per transaction: some milliseconds. */
const CHUNK = 20;

export type Import = ReturnType<typeof importService>;

/** @param noteImported called with each row's outcome once it is committed. */
export function importService(db: Database, noteImported: (outcome: ImportOutcome) => void = () => {}) {
  return {
    /** Adds and fills blanks; never removes or overwrites. Writes one audit record, updated with each chunk. */
    async importUsers(actor: Actor, application: Application, rows: readonly ImportRow[]): Promise<ImportResult> {
      const { id: applicationId } = application;
      // Users cannot be imported into the console, which has no workspace.
      const workspaceId = required(application.workspaceId, 'workspace of an application');
      let done: ImportResult = { summary: summaryOf([]), results: [], unknownSlugs: NO_SLUGS };
      let auditId: string | null = null;
      do {
        const before = done;
        const recordId: string | null = auditId;
        const chunk = rows.slice(before.results.length, before.results.length + CHUNK).map(cleanRow);
        [done, auditId] = await db.write(
          actor,
          async (unit) => {
            const after = added(before, await importChunk(unit, { id: applicationId, workspaceId }, chunk));
            const { summary: detail } = after;
            if (recordId !== null) await amendAudit(unit, recordId, detail);
            return [
              after,
              recordId ?? (await recordAudit(unit, { kind: 'user.imported', applicationId, workspaceId, detail })),
            ] as const;
          },
          { lock: `import into ${workspaceId}` },
        );
        for (const { outcome } of done.results.slice(before.results.length)) noteImported(outcome);
      } while (done.results.length < rows.length);
      return done;
    },

    /** Previews an import by running it and rolling it back. @returns outcomes, and whether anything would change. */
    async previewUsers(
      actor: Actor,
      { id, workspaceId: owner }: Application,
      rows: readonly ImportRow[],
    ): Promise<PreviewedRow[]> {
      const workspaceId = required(owner, 'workspace of an application');
      const previewed: PreviewedRow[] = [];
      for (let from = 0; from < rows.length; from += CHUNK) {
        const chunk = rows.slice(from, from + CHUNK).map(cleanRow);
        const { results, changed } = await rolledBack(db, actor, (unit) =>
          importChunk(unit, { id, workspaceId }, chunk),
        );
        for (const row of results)
          previewed.push({
            ...row,
            isChanged: row.userId !== null && row.outcome !== 'skipped' && changed.has(row.userId),
          });
      }
      return previewed;
    },

    /** Checks usernames without writing. A name repeated within a call gets the same status twice. */
    async checkUsernames({ id }: Application, inputs: readonly string[]): Promise<UsernameCheck> {
      const names = inputs.map((input) => ({ input, username: normalizeUsername(input) }));
      const claimable = new Set(names.map(({ username }) => username).filter(isClaimableUsername));
      const holders = await findUsernameHolders(db.reader, id, [...claimable]);
      const results = names.map(({ input, username }): UsernameCheck['results'][number] => {
        if (!claimable.has(username)) return { input, username, status: 'format_invalid' };
        return { input, username, status: holders.has(username) ? 'taken' : 'available' };
      });
      const count = (status: string) => results.filter((result) => result.status === status).length;
      const summary = {
        requested: inputs.length,
        available: count('available'),
        taken: count('taken'),
        formatInvalid: count('format_invalid'),
      };
      return { results, summary };
    },
  };
}

export type PreviewedRow = ImportResult['results'][number] & { readonly isChanged: boolean };

/** Carries the result out of a transaction that is rolled back. */
class TakenBack<Result> extends Error {
  constructor(readonly result: Result) {
    super('a change was tried and taken back');
  }
}

async function rolledBack<Result>(db: Database, actor: Actor, work: (unit: Unit) => Promise<Result>): Promise<Result> {
  try {
    return await db.write(actor, async (unit): Promise<never> => {
      throw new TakenBack(await work(unit));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.result as Result;
    throw error;
  }
}

const NO_SLUGS: ImportResult['unknownSlugs'] = { roles: [], scopes: [], memberships: [] };

function added(before: ImportResult, { results: newResults, unknownSlugs: newSlugs }: ImportedChunk): ImportResult {
  const results = [...before.results, ...newResults];
  const unknownSlugs = { ...NO_SLUGS };
  for (const kind of ALL_KINDS)
    unknownSlugs[kind] = [...new Set([...before.unknownSlugs[kind], ...newSlugs[kind]])].sort();
  return { summary: summaryOf(results), results, unknownSlugs };
}

function summaryOf(results: ImportResult['results']): ImportResult['summary'] {
  const count = (outcome: ImportOutcome) => results.filter((result) => result.outcome === outcome).length;
  return {
    requested: results.length,
    created: count('created'),
    linked: count('linked'),
    alreadyMember: count('already_member'),
    skipped: count('skipped'),
  };
}
