/** The export contains every column of every table about a person, for any value. */
import { expect, test } from 'bun:test';
import { getTableColumns, is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { PERSONAL_TABLES } from '@/store/personal-data.ts';
import * as account from '@/store/schema/account.ts';
import * as applications from '@/store/schema/applications.ts';
import * as bulkChanges from '@/store/schema/bulk-changes.ts';
import * as credentials from '@/store/schema/credentials.ts';
import * as devices from '@/store/schema/devices.ts';
import * as oauth from '@/store/schema/oauth.ts';
import * as passkeys from '@/store/schema/passkeys.ts';
import * as providers from '@/store/schema/providers.ts';
import * as records from '@/store/schema/records.ts';
import * as users from '@/store/schema/users.ts';
import * as workspaceMembers from '@/store/schema/workspace-members.ts';
import * as workspaces from '@/store/schema/workspaces.ts';
import { as, setUp } from './account.ts';

const SCHEMAS = [
  ...[account, applications, bulkChanges, credentials, devices, oauth, passkeys, providers],
  ...[records, users, workspaceMembers, workspaces],
];
const TABLES = SCHEMAS.flatMap((schema) => Object.values(schema) as unknown[])
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .filter((table) => PERSONAL_TABLES.includes(getTableConfig(table).name));

/** Text that is no JSON: reading a text column as JSON by mistake fails on it. */
const TEXT = 'Wien {"; \u2028';

test('the export contains every column that is not withheld, typed as in the schema', async () => {
  const { instance, application, ada } = await setUp();
  const { sqlite } = instance;
  const [{ id: member } = { id: '' }] = sqlite
    .query<{ id: string }, [string, string]>(
      'SELECT id FROM application_users WHERE user_id = ? AND application_id = ?',
    )
    .all(ada.userId, application.id);
  const [{ id: session } = { id: '' }] = sqlite
    .query<{ id: string }, [string]>('SELECT id FROM sessions WHERE application_user_id = ?')
    .all(member);
  const known: Record<string, string> = {
    user_id: ada.userId,
    created_by_user_id: ada.userId,
    actor_user_id: ada.userId,
    application_user_id: member,
    session_id: session,
    claimed_session_id: session,
    email: 'ada@example.com',
    recipient: 'ada@example.com',
    subject: ada.userId,
  };
  expect(TABLES.map((table) => getTableConfig(table).name).sort()).toEqual([...PERSONAL_TABLES].sort());
  sqlite.run('PRAGMA foreign_keys = OFF');
  sqlite.run('PRAGMA ignore_check_constraints = ON');
  for (const table of TABLES) {
    const { name } = getTableConfig(table);
    if (name === 'users' || name === 'sessions') continue;
    const columns = Object.values(getTableColumns(table));
    const values = columns.map((column) => {
      if (column.dataType === 'json')
        return JSON.stringify(column.name === 'actor' || column.name === 'data' ? { userId: ada.userId } : ['x']);
      if (column.dataType === 'number') return 1_772_000_000_000;
      if (column.dataType === 'boolean') return 1;
      if (column.dataType === 'buffer') return new Uint8Array([1, 2, 3]);
      return known[column.name] ?? (column.primary || column.name === 'id' ? `gen_${name}` : TEXT);
    });
    const names = columns.map((column) => `"${column.name}"`).join(', ');
    sqlite
      .query(`INSERT OR REPLACE INTO ${name} (${names}) VALUES (${values.map(() => '?').join(', ')})`)
      .run(...(values as string[]));
  }
  await instance.db.maintain();

  const { status, json } = await as(instance, ada)('GET', '/export');
  expect([status, json?.success]).toEqual([200, true]);
  const exported = json.data.tables as Record<string, Record<string, unknown>[]>;
  const camel = (text: string) => text.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  let compared = 0;
  for (const table of TABLES) {
    const { name } = getTableConfig(table);
    const rows = exported[camel(name)] ?? [];
    expect([name, rows.length > 0]).toEqual([name, true]);
    for (const [field, column] of Object.entries(getTableColumns(table))) {
      const shown = rows.map((row) => row[field]).find((value) => value === TEXT);
      if (column.dataType !== 'string' || known[column.name] !== undefined || column.primary) continue;
      if (name === 'users' || name === 'sessions' || !rows.some((row) => field in row) || column.name === 'id')
        continue;
      expect([name, field, shown]).toEqual([name, field, TEXT]);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(30);
  expect(exported['userAddresses']?.map(({ region }) => region)).toEqual([TEXT]);
});
