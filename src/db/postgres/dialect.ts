/** PostgreSQL's SQL. */
import type { Dialect } from '../dialect.ts';

/** drizzle names the table before the columns of a conflict's target, which PostgreSQL refuses. */
const CONFLICT_TARGET = /\bon conflict \([^)]*\)/g;
const unqualified = (target: string) => target.replaceAll(/"\w+"\./g, '');

/** Binds JSON as text: the driver would encode the text of a parameter of type `json` once more. */
const jsonOf = (value: string) => `CAST(CAST(${value} AS text) AS json)`;

export const postgresDialect: Dialect = {
  placeholder: (_, position) => `$${position}`,
  fromBuilder(sql) {
    let position = 0;
    return sql.replaceAll('?', () => `$${(position += 1)}`).replaceAll(CONFLICT_TARGET, unqualified);
  },
  hinted: (sql) => sql,
  joinInOrder: 'JOIN',
  unindexed: (column) => `(${column} || '')`,
  textPosition: (text, part) => `strpos(${text}, ${part})`,
  tokenMatches: (table, query, size) =>
    `SELECT entry FROM ${table} WHERE CAST(tokens AS tsvector) @@ CAST(CAST(${query} AS text) AS tsquery) LIMIT ${size}`,
  tokenQuery: { and: ' & ', or: ' | ' },
  currentTime: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  jsonText: (column, key) => `(CAST(${column} AS json) ->> '${key}') COLLATE "C"`,
  idList: (list) => `(SELECT json_array_elements_text(${jsonOf(list)}))`,
  // Before version 17 PostgreSQL reads the whole table for `IN`, and runs the subquery for each of its rows.
  isAmong: (column, select) => `${column} = ANY (ARRAY(${select}))`,
  jsonRows: (list, columns) => {
    const typed = Object.entries(columns).map(([name, type]) => `${name} ${type === 'integer' ? 'bigint' : type}`);
    return `json_to_recordset(${jsonOf(list)}) AS listed (${typed.join(', ')})`;
  },
  held: (table) => `FOR UPDATE OF ${table}`,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  insertionOrder: 'id',
};
