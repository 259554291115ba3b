/** Everything that is held about a person, table by table. Which of it they may read is for the export to say. */
import { eq, getTableColumns, inArray, or, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { required } from '../core/required.ts';
import type { Reader } from '../db/database.ts';
import { longRead, orm } from '../db/statements.ts';
import { legalEntities, userAddresses, userImages } from './schema/account.ts';
import { betaInterests } from './schema/applications.ts';
import { apiKeys, codeChallenges, codeFailures, sessions } from './schema/credentials.ts';
import { deviceGrants } from './schema/devices.ts';
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

/** One row, by the names of its fields in camel case. */
export type PersonalRow = Readonly<Record<string, unknown>>;

interface PersonalTable {
  readonly table: SQLiteTable;
  readonly isAbout: (userId: string) => SQL | undefined;
}

const ownMemberships = (userId: string) => sql`(SELECT id FROM application_users WHERE user_id = ${userId})`;
const ownSessions = (userId: string) =>
  sql`(SELECT id FROM sessions WHERE application_user_id IN ${ownMemberships(userId)})`;
/** The person's own account, and those with their unproved profiles. */
const ownAccounts = (userId: string) =>
  sql`(SELECT ${userId} UNION SELECT profile_user_id FROM application_users
    WHERE user_id = ${userId} AND profile_user_id IS NOT NULL)`;
const ownEmails = (userId: string) =>
  sql`(SELECT email FROM users WHERE id = ${userId} UNION SELECT email FROM email_aliases WHERE user_id = ${userId})`;

const names = (id: SQL) => sql`CAST(data AS TEXT) LIKE '%"' || ${id} || '"%'`;

/** A table that is not named here holds nobody's data. */
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
  ...[applicationUserRoles, applicationUserScopes, applicationUserGroups, sessions].map((table) => ({
    table,
    isAbout: (userId: string) => inArray(table.applicationUserId, ownMemberships(userId)),
  })),
  ...[passkeyChallenges, providerStates].map((table) => ({
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
  // A workspace is not its maker's, but its shared budgets are counted for them.
  { table: workspaces, isAbout: (userId) => eq(workspaces.createdByUserId, userId) },
  // Keys of a workspace are not the person's, but who made them is on record.
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
  // Word for word what the index is on.
  { table: events, isAbout: (userId) => sql`json_extract(data, '$.userId') = ${userId}` },
  // Not what they did to others: that is about the others.
  {
    table: auditRecords,
    isAbout: (userId) =>
      sql`user_id = ${userId} OR (user_id IS NULL AND (actor_user_id = ${userId} OR email IN ${ownEmails(userId)}))`,
  },
  // What they have begun, and what is done with them: there they are named by their own id or their memberships'.
  {
    table: longWorks,
    isAbout: (userId) =>
      sql`actor ->> 'userId' = ${userId} OR ${names(sql`${userId}`)} OR EXISTS (
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

/** The tables with rows about people, by their names in the database. */
export const PERSONAL_TABLES: readonly string[] = [...byName.keys()];

/** Rows read in one go. */
const BATCH = 250;

/**
 * The rows of a table that are about a person, in batches that are short however many they are. Which they are is read first;
 * one that is deleted meanwhile is missing.
 *
 * @param table one of {@link PERSONAL_TABLES}.
 */
export async function* personalRows(reader: Reader, table: string, userId: string): AsyncGenerator<PersonalRow[]> {
  const { table: source, isAbout } = required(byName.get(table), `table ${table}`);
  const { id } = getTableColumns(source) as { id?: SQLiteColumn };
  if (!id) {
    // Few of anybody's, though perhaps among very many.
    yield await rowsWhere(reader, source, isAbout(userId));
    return;
  }
  for (const ids of await idsInBatches(reader, source, id, isAbout(userId))) {
    // Always as many, so that it is always the same statement.
    const padding = Array<string | number>(BATCH - ids.length).fill(required(ids[0], 'id in a batch'));
    yield await rowsWhere(reader, source, inArray(id, [...ids, ...padding]));
  }
}

async function rowsWhere(reader: Reader, source: SQLiteTable, condition: SQL | undefined): Promise<PersonalRow[]> {
  const query = orm(reader).select().from(source).where(condition);
  const rows = await farRows<Record<string, unknown>>(reader, query);
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

/** A text for each batch: lists of a hundred thousand ids cross from the other thread at once. */
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
    .select({ ids: sql`string_agg(${numbered.id}, ',')`.as('ids') })
    .from(numbered)
    .groupBy(sql`${numbered.batch}`)
    .orderBy(sql`${numbered.batch}`);
  const batches = await farRows<{ ids: string }>(reader, query);
  return batches.map(({ ids }) => ids.split(',').map((each) => (id.dataType === 'number' ? Number(each) : each)));
}

/** Some of these tables are searched from end to end, so none of them here. */
function farRows<Row>(reader: Reader, query: { toSQL(): { sql: string; params: unknown[] } }): Promise<Row[]> {
  const { sql: text, params } = query.toSQL();
  return longRead<Row>(text)(reader, ...(params as string[]));
}
