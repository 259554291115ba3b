/** Names of the people, keys and objects in audit records, read in a constant number of statements. */
import { displayName } from '../core/display-name.ts';
import { endpointName } from '../core/endpoint-name.ts';
import { ID_PREFIXES } from '../core/id.ts';
import type { Reader } from '../db/database.ts';
import { query } from '../db/statements.ts';
import type { AuditRecord } from './audit.ts';
import { findMembersById } from './members.ts';

export interface PersonName {
  /** From the profile; null for none. */
  readonly name: string | null;
  readonly email: string;
}

export interface AuditNames {
  /** Returns the profile name of the person a record is about, as the record's application may see it. */
  subjectOf(record: Subject): string | null;
  /** People who acted on others, by user id. */
  readonly people: ReadonlyMap<string, PersonName>;
  /** Keys that acted, and objects that still exist, by id. */
  readonly things: ReadonlyMap<string, string>;
}

export const NO_NAMES: AuditNames = { subjectOf: () => null, people: new Map(), things: new Map() };

type Subject = Pick<AuditRecord, 'applicationId' | 'userId'>;

const subjectKey = ({ applicationId, userId }: Subject) => `${applicationId} ${userId}`;

/** @param workspaceId the workspace that all records belong to. */
export async function findAuditNames(
  reader: Reader,
  workspaceId: string,
  records: readonly AuditRecord[],
): Promise<AuditNames> {
  const subjects = await findSubjects(reader, records);
  const people = await findActors(reader, workspaceId, records);
  const things = await findThings(reader, workspaceId, records);
  return { subjectOf: (record) => subjects.get(subjectKey(record)) ?? null, people, things };
}

const membershipIds = query.values<string, { userIds: readonly string[]; applicationIds: readonly string[] }>(
  ({ idList, unindexed }) => `SELECT id FROM application_users
   WHERE user_id IN ${idList(':userIds')} AND ${unindexed('application_id')} IN ${idList(':applicationIds')}`,
);

/** A reservation shows its own profile only, so names are read from the membership. */
async function findSubjects(reader: Reader, records: readonly Subject[]): Promise<Map<string, string | null>> {
  const inApplications = records.filter(({ applicationId }) => applicationId !== null);
  const userIds = distinct(inApplications.map(({ userId }) => userId));
  if (userIds.length === 0) return new Map();
  const applicationIds = distinct(inApplications.map(({ applicationId }) => applicationId));
  const members = await findMembersById(reader, await membershipIds(reader, { userIds, applicationIds }));
  return new Map([...members.values()].map(({ member, user }) => [subjectKey(member), displayName(user)]));
}

interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly fullName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly name: string | null;
}

const colleagues = query.rows<Colleague, { workspaceId: string; userIds: readonly string[] }>(
  ({ idList }) => `SELECT u.id, u.email, u.full_name AS "fullName", u.given_name AS "givenName",
     u.family_name AS "familyName", u.name
   FROM workspace_members s JOIN users u ON u.id = s.user_id
   WHERE s.workspace_id = :workspaceId AND s.invited_email IS NULL AND s.user_id IN ${idList(':userIds')}`,
);

/** The workspace's own records have the address of somebody who has left it. */
const formerColleagues = query.rows<
  { id: string; email: string | null },
  { workspaceId: string; userIds: readonly string[] }
>(
  ({ idList }) => `SELECT u.id, (SELECT r.email FROM audit_records r
     WHERE r.user_id = u.id AND r.workspace_id = :workspaceId AND r.email IS NOT NULL
     ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS email
   FROM users u WHERE u.id IN ${idList(':userIds')} ORDER BY u.id`,
);

async function findActors(
  reader: Reader,
  workspaceId: string,
  records: readonly AuditRecord[],
): Promise<Map<string, PersonName>> {
  const userIds = distinct(
    records.map(({ actorType, actorUserId, userId }) =>
      actorType === 'user' && actorUserId !== userId ? actorUserId : null,
    ),
  );
  if (userIds.length === 0) return new Map();
  const present = await colleagues(reader, { workspaceId, userIds });
  const found = new Map(present.map((user) => [user.id, { name: displayName(user), email: user.email }]));
  const missing = userIds.filter((id) => !found.has(id));
  const former = missing.length === 0 ? [] : await formerColleagues(reader, { workspaceId, userIds: missing });
  for (const { id, email } of former) if (email !== null) found.set(id, { name: null, email });
  return found;
}

/** Prefixes of the ids of objects that records name. */
const LISTS = {
  key: ID_PREFIXES.apiKey,
  role: ID_PREFIXES.role,
  scope: ID_PREFIXES.scope,
  group: ID_PREFIXES.membershipGroup,
  application: ID_PREFIXES.application,
  webhook: ID_PREFIXES.webhook,
  delivery: ID_PREFIXES.delivery,
} as const;

/** Webhooks are named by description or URL. */
const things = query.rows<
  { id: string; name: string | null; url: string | null },
  Record<`${keyof typeof LISTS}Ids`, readonly string[]> & { workspaceId: string }
>(
  ({
    idList,
  }) => `SELECT id, name, NULL AS url FROM api_keys WHERE workspace_id = :workspaceId AND id IN ${idList(':keyIds')}
   UNION ALL SELECT id, name, NULL FROM roles WHERE id IN ${idList(':roleIds')}
   UNION ALL SELECT id, name, NULL FROM scopes WHERE id IN ${idList(':scopeIds')}
   UNION ALL SELECT id, name, NULL FROM membership_groups WHERE id IN ${idList(':groupIds')}
   UNION ALL SELECT id, name, NULL FROM applications
     WHERE workspace_id = :workspaceId AND id IN ${idList(':applicationIds')}
   UNION ALL SELECT id, description, url FROM webhooks WHERE id IN ${idList(':webhookIds')}
   UNION ALL SELECT d.id, w.description, w.url FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.id IN ${idList(':deliveryIds')}`,
);

async function findThings(
  reader: Reader,
  workspaceId: string,
  records: readonly AuditRecord[],
): Promise<Map<string, string>> {
  const ids = distinct(records.flatMap(({ actorApiKeyId, targetId }) => [actorApiKeyId, targetId]));
  const byPrefix = Map.groupBy<string, string>(ids, (id) => id.slice(0, id.indexOf('_')));
  if (!Object.values(LISTS).some((prefix) => byPrefix.has(prefix))) return new Map();
  const of = (list: keyof typeof LISTS) => byPrefix.get(LISTS[list]) ?? [];
  const rows = await things(reader, {
    workspaceId,
    ...{ keyIds: of('key'), roleIds: of('role'), scopeIds: of('scope'), groupIds: of('group') },
    ...{ applicationIds: of('application'), webhookIds: of('webhook'), deliveryIds: of('delivery') },
  });
  return new Map(
    rows.flatMap(({ id, name, url }) => {
      const shown = url === null ? name : endpointName({ url, description: name });
      return shown === null ? [] : [[id, shown] as const];
    }),
  );
}

function distinct(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}
