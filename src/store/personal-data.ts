/** Rows about a person, table by table. The export decides which of them the person may read. */
import { eq, getTableColumns, inArray, or, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { required } from '../core/required.ts';
import type { Reader } from '../db/database.ts';
import { type Dialect, dialectOf, longReadOf, orm } from '../db/statements.ts';
import { legalEntities, userAddresses, userImages } from './schema/account.ts';
import { betaInterests } from './schema/applications.ts';
import { bulkChangeMembers } from './schema/bulk-changes.ts';
import { apiKeys, codeChallenges, codeFailures, sessions } from './schema/credentials.ts';
import { deviceGrants } from './schema/devices.ts';
import { oauthCodes, oauthGrants, oauthRefreshTokens } from './schema/oauth.ts';
import { passkeyChallenges, passkeys } from './schema/passkeys.ts';
import { providerIdentities, providerStates } from './schema/providers.ts';
import { auditRecords, events, longWorks, mails, rateCounters } from './schema/records.ts';
import {
  applicationUserGroups,
  applicationUserRoles,
  applicationUsers,
  applicationUserScopes,
  emailAliases,
  emailChanges,
  userLanguages,
  users,
} from './schema/users.ts';
import { workspaceMembers } from './schema/workspace-members.ts';
import { workspaces } from './schema/workspaces.ts';

/** A row with its field names in camel case. */
export type PersonalRow = Readonly<Record<string, unknown>>;

interface PersonalTable {
  readonly table: SQLiteTable;
  readonly isAbout: (userId: string, dialect: Dialect) => SQL | undefined;
}

const ownMemberships = (userId: string) => sql`(SELECT id FROM application_users WHERE user_id = ${userId})`;
const ownSessions = (userId: string) =>
  sql`(SELECT id FROM sessions WHERE application_user_id IN ${ownMemberships(userId)})`;
/** Ids of the person's own account and their unproved profiles. */
const ownAccounts = (userId: string) =>
  sql`(SELECT ${userId} UNION SELECT profile_user_id FROM application_users
    WHERE user_id = ${userId} AND profile_user_id IS NOT NULL)`;
const ownEmails = (userId: string) =>
  sql`(SELECT email FROM users WHERE id = ${userId} UNION SELECT email FROM email_aliases WHERE user_id = ${userId})`;

const names = (id: SQL) => sql`CAST(data AS TEXT) LIKE '%"' || ${id} || '"%'`;

/** Every table with personal data; tables not listed contain none. */
const TABLES: readonly PersonalTable[] = [
  { table: users, isAbout: (userId) => inArray(users.id, ownAccounts(userId)) },
  ...[userLanguages, userAddresses, legalEntities, userImages].map((table) => ({
    table,
    isAbout: (userId: string) => inArray(table.userId, ownAccounts(userId)),
  })),
  ...[emailAliases, emailChanges, applicationUsers, workspaceMembers, passkeys, providerIdentities].map((table) => ({
    table,
    isAbout: (userId: string) => eq(table.userId, userId),
  })),
  ...[
    applicationUserRoles,
    applicationUserScopes,
    applicationUserGroups,
    bulkChangeMembers,
    sessions,
    oauthCodes,
    oauthGrants,
  ].map((table) => ({
    table,
    isAbout: (userId: string) => inArray(table.applicationUserId, ownMemberships(userId)),
  })),
  ...[passkeyChallenges, providerStates, oauthRefreshTokens].map((table) => ({
    table,
    isAbout: (userId: string) => inArray(table.sessionId, ownSessions(userId)),
  })),
  {
    table: deviceGrants,
    isAbout: (userId) =>
      or(
        inArray(deviceGrants.applicationUserId, ownMemberships(userId)),
        inArray(deviceGrants.claimedSessionId, ownSessions(userId)),
      ),
  },
  // Listed because the shared budgets of a workspace count against its creator.
  { table: workspaces, isAbout: (userId) => eq(workspaces.createdByUserId, userId) },
  // Listed because workspace keys store their creator.
  {
    table: apiKeys,
    isAbout: (userId) =>
      or(inArray(apiKeys.applicationUserId, ownMemberships(userId)), eq(apiKeys.createdByUserId, userId)),
  },
  ...[betaInterests, codeFailures].map((table) => ({
    table,
    isAbout: (userId: string) => inArray(table.email, ownEmails(userId)),
  })),
  {
    table: codeChallenges,
    isAbout: (userId) =>
      or(inArray(codeChallenges.email, ownEmails(userId)), inArray(codeChallenges.sessionId, ownSessions(userId))),
  },
  { table: mails, isAbout: (userId) => inArray(mails.recipient, ownEmails(userId)) },
  // Must match the indexed expression exactly.
  { table: events, isAbout: (userId, { jsonText }) => sql`${sql.raw(jsonText('data', 'userId'))} = ${userId}` },
  // Excludes what they did to others: those records are about the others.
  {
    table: auditRecords,
    isAbout: (userId) =>
      sql`user_id = ${userId} OR (user_id IS NULL AND (actor_user_id = ${userId} OR email IN ${ownEmails(userId)}))`,
  },
  // Tasks the person started, and tasks whose data contains their id or a membership's.
  {
    table: longWorks,
    isAbout: (userId, { jsonText }) =>
      sql`${sql.raw(jsonText('actor', 'userId'))} = ${userId} OR ${names(sql`${userId}`)} OR EXISTS (
        SELECT 1 FROM application_users m WHERE m.user_id = ${userId} AND ${names(sql`m.id`)})`,
  },
  {
    table: rateCounters,
    isAbout: (userId) =>
      or(
        eq(rateCounters.subject, userId),
        inArray(rateCounters.subject, ownEmails(userId)),
        inArray(rateCounters.subject, ownSessions(userId)),
      ),
  },
];

const byName = new Map(TABLES.map((personal) => [getTableConfig(personal.table).name, personal]));

export const PERSONAL_TABLES: readonly string[] = [...byName.keys()];

const BATCH = 250;

/**
 * Yields a table's rows about a person, in short batches. Ids are read first; a row deleted in between is missing.
 * @param table one of {@link PERSONAL_TABLES}.
 */
export async function* personalRows(reader: Reader, table: string, userId: string): AsyncGenerator<PersonalRow[]> {
  const { table: source, isAbout } = required(byName.get(table), `table ${table}`);
  const { id } = getTableColumns(source) as { id?: SQLiteColumn };
  const condition = isAbout(userId, dialectOf(reader));
  if (!id) {
    // Tables without an id have few rows per person, though perhaps very many in all.
    yield await rowsWhere(reader, source, condition);
    return;
  }
  for (const ids of await idsInBatches(reader, source, id, condition)) {
    // Padded to a fixed length, so that the statement is always the same.
    const padding = Array<string | number>(BATCH - ids.length).fill(required(ids[0], 'id in a batch'));
    yield await rowsWhere(reader, source, inArray(id, [...ids, ...padding]));
  }
}

function primaryKeyOf(source: SQLiteTable): readonly SQLiteColumn[] {
  const { columns, primaryKeys } = getTableConfig(source);
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
}

/** Returns the rows by primary key: the export of a person is the same in every engine. */
async function rowsWhere(reader: Reader, source: SQLiteTable, condition: SQL | undefined): Promise<PersonalRow[]> {
  const query = orm(reader)
    .select()
    .from(source)
    .where(condition)
    .orderBy(...primaryKeyOf(source));
  const rows = await longReadOf<Record<string, unknown>>(reader, query);
  const columns = Object.entries(getTableColumns(source));
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(([field, column]) => {
        const value = row[column.name];
        return [field, value === null ? null : column.mapFromDriverValue(value)];
      }),
    ),
  );
}

/** Groups ids into one text per batch, since 100,000 ids may cross from the other thread at once. */
async function idsInBatches(
  reader: Reader,
  source: SQLiteTable,
  id: SQLiteColumn,
  condition: SQL | undefined,
): Promise<(string | number)[][]> {
  const numbered = orm(reader)
    .select({ id, batch: sql`(row_number() OVER (ORDER BY ${id}) - 1) / ${sql.raw(String(BATCH))}`.as('batch') })
    .from(source)
    .where(condition)
    .as('numbered');
  const query = orm(reader)
    .select({ ids: sql`string_agg(CAST(${numbered.id} AS TEXT), ',')`.as('ids') })
    .from(numbered)
    .groupBy(sql`${numbered.batch}`)
    .orderBy(sql`${numbered.batch}`);
  const batches = await longReadOf<{ ids: string }>(reader, query);
  return batches.map(({ ids }) => ids.split(',').map((each) => (id.dataType === 'number' ? Number(each) : each)));
}
