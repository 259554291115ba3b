/** PostgreSQL's SQL. */
import type { Dialect } from '../dialect.ts';

/** drizzle names the table before the columns of a conflict's target, which PostgreSQL refuses. */
const CONFLICT_TARGET = /\bon conflict \([^)]*\)/g;
const unqualified = (target: string) => target.replaceAll(/"\w+"\./g, '');

export const postgresDialect: Dialect = {
  placeholder: (_, position) => `$${position}`,
  fromBuilder(sql) {
    let position = 0;
    return sql.replaceAll('?', () => `$${(position += 1)}`).replaceAll(CONFLICT_TARGET, unqualified);
  },
  hinted: (sql) => sql,
  joinInOrder: 'JOIN',
  unindexed: (column) => column,
  textPosition: (text, part) => `strpos(${text}, ${part})`,
  jsonText: (column, key) => `(CAST(${column} AS json) ->> '${key}') COLLATE "C"`,
  idList: (list) => `(SELECT json_array_elements_text(CAST(CAST(${list} AS text) AS json)))`,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  insertionOrder: 'id',
};
