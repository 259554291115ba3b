/** PostgreSQL's SQL. */
import type { Dialect } from '../dialect.ts';

export const postgresDialect: Dialect = {
  placeholder: (_, position) => `$${position}`,
  fromBuilder(sql) {
    let position = 0;
    return sql.replaceAll('?', () => `$${(position += 1)}`);
  },
  hinted: (sql) => sql,
  joinInOrder: 'JOIN',
  unindexed: (column) => column,
  textPosition: (text, part) => `strpos(${text}, ${part})`,
  jsonText: (column, key) => `(CAST(${column} AS json) ->> '${key}') COLLATE "C"`,
  idList: (list) => `(SELECT json_array_elements_text(CAST(${list} AS json)))`,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  insertionOrder: 'id',
};
