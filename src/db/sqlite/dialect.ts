/** SQLite's SQL. */
import type { Dialect } from '../dialect.ts';

const COMPARED_VALUE = /([=<>]) (?=:[a-z]|\?)/gi;

export const sqliteDialect: Dialect = {
  placeholder: (name) => `:${name}`,
  fromBuilder: (sql) => sql,
  // SQLite replans a statement at each call if a bound value might match a partial index, which takes several times as
  // long as running it. `+` keeps the plan (test/bench/statements.ts).
  hinted: (sql) => sql.replace(COMPARED_VALUE, '$1 +'),
  joinInOrder: 'CROSS JOIN',
  unindexed: (column) => `+${column}`,
  textPosition: (text, part) => `instr(${text}, ${part})`,
  tokenMatches: (table, query, size) => {
    const tokens = table.replace('_search', '_tokens');
    return `SELECT rowid AS entry FROM ${tokens} WHERE ${tokens} MATCH ${query} LIMIT ${size}`;
  },
  tokenQuery: { and: ' AND ', or: ' OR ' },
  currentTime: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  jsonText: (column, key) => `json_extract(${column}, '$.${key}')`,
  idList: (list) => `(SELECT value FROM json_each(${list}))`,
  isAmong: (column, select) => `${column} IN (${select})`,
  jsonRows: (list, columns) => {
    const values = Object.keys(columns).map((name) => `json_extract(value, '$.${name}') AS ${name}`);
    return `(SELECT ${values.join(', ')} FROM json_each(${list}))`;
  },
  // One writer: no other change has locked anything.
  held: () => '',
  skipLocked: '',
  insertionOrder: 'rowid',
};
