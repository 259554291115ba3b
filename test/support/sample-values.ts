/** Sample values for the named values of the store's statements: those of the fixture's columns, and a few of ours. */
import type { Database } from 'bun:sqlite';
import type { SqlValue } from '../../src/db/connection.ts';
import { FIXTURE_TIME } from '../fixtures/world.ts';

const YEAR = 365 * 86_400_000;
const TIMES = [FIXTURE_TIME, FIXTURE_TIME - YEAR, FIXTURE_TIME + YEAR];
const CURSORS = ['', '~'];
const NUMBERS = [1, 0, 5];
const WORDS = ['a', '@', 'É', 'ı'];

/** Values that no column has, or that must be of one kind. */
const OURS: Readonly<Record<string, readonly SqlValue[]>> = {
  ...Object.fromEntries(
    'now realNow since until from to at first last day dayStart afterTime expiresAt nextAttemptAt revokedAt lastSeenAt createdAt endsAt'
      .split(' ')
      .map((name) => [name, TIMES]),
  ),
  ...Object.fromEntries('after afterId before reached position'.split(' ').map((name) => [name, CURSORS])),
  ...Object.fromEntries('limit size skipped epoch lane leaseMs'.split(' ').map((name) => [name, NUMBERS])),
  ...Object.fromEntries('q word0 word1 needle'.split(' ').map((name) => [name, WORDS])),
  windowMs: [YEAR],
  // Which rows a limit without an order leaves out is the engine's choice.
  most: [1000],
  target: [null, 'x'],
  credentialId: ['x'],
  family: ['user.'],
  wholeFamily: ['user', 'session'],
};

/** Values that are lists of ids, or of ids with the number of attempts. */
const LISTS: Readonly<Record<string, (ids: readonly SqlValue[]) => readonly SqlValue[]>> = {
  ids: (ids) => ids,
  webhookIds: (ids) => ids,
  applicationIds: (ids) => ids,
  workspaceIds: (ids) => ids,
  userIds: (ids) => ids,
  keyIds: (ids) => ids,
  roleIds: (ids) => ids,
  scopeIds: (ids) => ids,
  groupIds: (ids) => ids,
  deliveryIds: (ids) => ids,
  claims: (ids) => ids.flatMap((id) => [0, 1, 2].map((attempts) => `${id} ${attempts}`)),
};

/** Names of values whose column has another name. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  hash: ['token_hash'],
  country: ['ip_country'],
  consoleId: ['application_id'],
  memberId: ['id', 'application_user_id'],
  profileId: ['user_id'],
  sessionId: ['id', 'session_id'],
  role: ['slug'],
  membership: ['slug'],
  id: [
    'id',
    'user_id',
    'application_id',
    'application_user_id',
    'workspace_id',
    'webhook_id',
    'event_id',
    'api_key_id',
  ],
};

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a function that gives the samples of a named value of a statement. */
export function sampleValues(sqlite: Database): (name: string, sql: string) => readonly SqlValue[] {
  const columns = sqlite
    .query(
      `SELECT m.name AS "table", x.name AS column FROM pragma_table_list m JOIN pragma_table_xinfo(m.name) x
            WHERE m.schema = 'main' AND m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND x.hidden = 0`,
    )
    .all() as { table: string; column: string }[];
  const known = new Map<string, SqlValue[]>();
  for (const { table, column } of columns)
    for (const key of [column, `${table}.${column}`]) {
      const values = sqlite.query(`SELECT DISTINCT ${column} FROM ${table}`).values().flat() as SqlValue[];
      known.set(key, [...(known.get(key) ?? []), ...values.filter((value) => value !== null)]);
    }
  const ids = [...known].flatMap(([column, values]) => (column.endsWith('.id') ? values : []));
  return (name, sql) => {
    const list = LISTS[name];
    if (list) return [JSON.stringify(list(ids))];
    if (name === 'subjects') return [JSON.stringify(known.get('subject'))];
    if (name === 'emails' || name === 'recipients')
      return [JSON.stringify((known.get('email') ?? []).map((email) => ({ email })))];
    if (name === 'metrics') return [JSON.stringify(known.get('metric'))];
    // The same name may stand for a time in one statement and for an id in another.
    if (new RegExp(`_at [<>]=? \\+?:${name}\\b`).test(sql)) return TIMES;
    if (new RegExp(`\\bid [<>]=? \\+?:${name}\\b`).test(sql)) return CURSORS;
    const ours = OURS[name];
    if (ours) return ours;
    const tables = [...sql.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].map(([, table]) => table);
    const names = COLUMNS[name] ?? [snakeCase(name)];
    const here = names.flatMap((column) => tables.map((table) => known.get(`${table}.${column}`) ?? []));
    const everywhere = names.map((column) => known.get(column) ?? []);
    const values = [...new Set((here.flat().length > 0 ? here : everywhere).flat())];
    return values.length > 0 ? values : ['x'];
  };
}
