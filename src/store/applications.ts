/** Applications, the tenants of the service, including the console. */
import { and, asc, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm';
import { required } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, dialectOf, note, orm, prepared, query } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { type Application, applications, type TOKEN_REFUSALS } from './schema/applications.ts';

export { BETA_POLICIES, SIGNIN_GATES, STAGES, TOKEN_REFUSALS } from './schema/applications.ts';
export type { Application };

/** An application of a workspace: any but the console. */
export type TenantApplication = Application & { readonly workspaceId: string };

const { placeholder } = sql;

/**
 * Returns the workspace of a joined application, for lookups by person or address: the workspace's index would read all
 * its applications, which may be very many.
 */
export const unindexedWorkspaceId = (reader: Reader) =>
  sql.raw(dialectOf(reader).unindexed('"applications"."workspace_id"'));

/** Columns that an update may set; undefined ones keep their value. */
export type ApplicationColumns = Partial<
  Omit<Application, 'id' | 'workspaceId' | 'clientId' | 'sessionEpoch' | 'interestEpoch' | 'createdAt' | 'updatedAt'>
>;

export type NewApplication = typeof applications.$inferInsert;

const applicationById = prepared((db) =>
  db
    .select()
    .from(applications)
    .where(eq(applications.id, placeholder('id')))
    .prepare(),
);

/** Returns an application in any state, or the console. */
export async function findApplication(reader: Reader, id: string): Promise<Application | undefined> {
  const [application] = await applicationById(reader, { id });
  return application;
}

/** Returns an application that another row refers to. @throws if it is missing. */
export async function requireApplication(reader: Reader, id: string): Promise<Application> {
  return required(await findApplication(reader, id), `application ${id}`);
}

const applicationByClientId = prepared((db) =>
  db
    .select()
    .from(applications)
    .where(eq(applications.clientId, placeholder('clientId')))
    .prepare(),
);

export async function findApplicationByClientId(reader: Reader, clientId: string): Promise<Application | undefined> {
  const [application] = await applicationByClientId(reader, { clientId });
  return application;
}

/** Returns the id of the application that has or last had the slug. Deleted applications keep theirs. */
export const findSlugHolder = query.value<string, string>(
  `SELECT id FROM applications WHERE slug = :slug
   UNION ALL SELECT application_id FROM former_slugs WHERE slug = :slug LIMIT 1`,
);

/** Reserves the slug that an application is about to give up. */
export const keepFormerSlug = change<Pick<Application, 'id' | 'slug'>>(
  'INSERT INTO former_slugs (slug, application_id, given_up_at) VALUES (:slug, :id, :now) ON CONFLICT DO NOTHING',
);

/** Returns when the application gave up former slugs since a time, newest first. */
export const listFormerSlugTimes = query.values<number, { applicationId: string; since: number; now: number }>(
  `SELECT given_up_at FROM former_slugs
   WHERE application_id = :applicationId AND given_up_at > :since AND given_up_at <= :now ORDER BY given_up_at DESC`,
);

const consoleApplication = prepared((db) =>
  db.select().from(applications).where(isNull(applications.workspaceId)).limit(1).prepare(),
);

/** Returns the console, the one application without a workspace; undefined before the first start has finished. */
export async function findConsole(reader: Reader): Promise<Application | undefined> {
  const [application] = await consoleApplication(reader);
  return application;
}

/** Returns the console. @throws before the first start has finished. */
export async function requireConsole(reader: Reader): Promise<Application> {
  return required(await findConsole(reader), 'the console');
}

export async function findApplicationsById(
  reader: Reader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Application>> {
  if (ids.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(applications)
    .where(inArray(applications.id, [...new Set(ids)]));
  return new Map(rows.map((row) => [row.id, row]));
}

export interface ApplicationQuery {
  readonly workspaceIds: readonly string[];
  /** Restricts the list to these ids; null for all. */
  readonly ids: readonly string[] | null;
  /** Excludes applications whose grace period ended by this time, in epoch milliseconds; null excludes none. */
  readonly hiddenSince: number | null;
  readonly after: string;
  readonly limit: number;
}

/** Returns a page of applications, oldest first. */
export async function listApplications(reader: Reader, query: ApplicationQuery): Promise<Application[]> {
  const { workspaceIds, ids, hiddenSince, after, limit } = query;
  return orm(reader)
    .select()
    .from(applications)
    .where(
      and(
        inArray(applications.workspaceId, [...workspaceIds]),
        ids === null ? undefined : inArray(applications.id, [...ids]),
        hiddenSince === null ? undefined : or(isNull(applications.deletedAt), gt(applications.purgeAfter, hiddenSince)),
        gt(applications.id, after),
      ),
    )
    .orderBy(asc(applications.id))
    .limit(limit);
}

export type ApplicationState = Pick<
  Application,
  'clientId' | 'name' | 'stage' | 'signinGate' | 'betaRequestPolicy' | 'archivedAt' | 'deletedAt'
> & { readonly applicationId: string };

/** Returns the public state of a tenant's application, never of the console. */
export const findApplicationState = query.row<ApplicationState, string>(
  `SELECT id AS "applicationId", client_id AS "clientId", name, stage, signin_gate AS "signinGate",
     beta_request_policy AS "betaRequestPolicy", archived_at AS "archivedAt", deleted_at AS "deletedAt"
   FROM applications WHERE id = :id AND workspace_id IS NOT NULL`,
);

export function insertApplication(unit: Unit, row: NewApplication): Promise<Application> {
  return insertOne(unit, applications, row);
}

export function updateApplication(unit: Unit, id: string, columns: ApplicationColumns): Promise<Application> {
  return updateOne(unit, applications, id, { ...columns, updatedAt: unit.now });
}

/** Ends all sessions, codes, grants and personal keys of the application at once, by its epoch. */
export const bumpApplicationEpoch = change<string>(
  'UPDATE applications SET session_epoch = session_epoch + 1 WHERE id = :id',
  { rowId: 'id' },
);

export const listVerifiedApplications = query.values<string, readonly string[]>(
  ({ idList }) => `SELECT id FROM applications WHERE id IN ${idList(':ids')} AND first_verified_at IS NOT NULL`,
);

/** Stores the first successful verification; later ones change nothing. `at` is in epoch milliseconds. */
export const noteFirstVerification = note<{ id: string; at: number }>(
  `UPDATE applications SET first_verified_at = :at, verification_refusal = NULL, verification_refused_at = NULL
   WHERE id = :id AND first_verified_at IS NULL`,
);

/** Stores the last refusal, until a verification succeeds. `at` is in epoch milliseconds. */
export const noteVerificationRefusal = note<{ id: string; reason: (typeof TOKEN_REFUSALS)[number]; at: number }>(
  `UPDATE applications SET verification_refusal = :reason, verification_refused_at = :at
   WHERE id = :id AND first_verified_at IS NULL`,
);
