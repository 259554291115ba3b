/** SQL fragments that differ between engines, and named values in statements. */

/** SQL text with named values (`:id`); a function where engines differ. */
export type Sql = string | ((dialect: Dialect) => string);

/** Tables with an index of trigrams. */
export type TokenTable = 'member_search' | 'address_search';

export interface Dialect {
  /** Returns the placeholder of a value. @param position from 1, by first mention. */
  readonly placeholder: (name: string, position: number) => string;
  /** Turns the SQL that drizzle builds for SQLite into the engine's. */
  readonly fromBuilder: (sql: string) => string;
  /** Adds the engine's planner hints to a statement. */
  readonly hinted: (sql: string) => string;
  /** Joins the next table after the previous ones; `JOIN` where an engine plans the order well itself. */
  readonly joinInOrder: string;
  /** Hides a text column from the planner, to keep it from choosing the column's index. */
  readonly unindexed: (column: string) => string;
  /** Returns the position of a part in a text, from 1; 0 if the text does not contain it. */
  readonly textPosition: (text: string, part: string) => string;
  /** Selects up to `size` entries of a table whose tokens match a query of {@link Dialect.tokenQuery}. */
  readonly tokenMatches: (table: TokenTable, query: string, size: string) => string;
  readonly tokenQuery: { readonly and: string; readonly or: string };
  /** The server's clock, in epoch milliseconds. */
  readonly currentTime: string;
  readonly jsonText: (column: string, key: string) => string;
  /** Returns the operand of `IN` for a value that is a list of ids. */
  readonly idList: (list: string) => string;
  /** Compares a column with the few ids of a subquery that depends on the tables before it. */
  readonly isAmong: (column: string, select: string) => string;
  /** Returns the table of a value that is a list of objects, with these columns. */
  readonly jsonRows: (list: string, columns: Readonly<Record<string, 'text' | 'integer'>>) => string;
  /** Ends a `SELECT` whose rows of this table stay as they are until the end of the change. */
  readonly held: (table: string) => string;
  /** Ends a `SELECT` of rows that this change claims: rows that another change has locked are left out. */
  readonly skipLocked: string;
  /** Column by which rows of a table sort in the order of their insertion. */
  readonly insertionOrder: string;
}

export interface CompiledSql {
  readonly sql: string;
  /** Names of the values, in the order in which they are bound. */
  readonly names: readonly string[];
  /** Result columns named `is…` or `has…`, which are booleans in every engine. */
  readonly booleans: readonly string[];
}

export function sqlOf(sql: Sql, dialect: Dialect): string {
  return typeof sql === 'string' ? sql : sql(dialect);
}

const NAMED_VALUE = /(?<![:\w]):([a-z]\w*)/gi;
const BOOLEAN_COLUMN = /\bAS "((?:is|has)[A-Z]\w*)"/g;

export function compile(source: Sql, dialect: Dialect): CompiledSql {
  const text = dialect.hinted(sqlOf(source, dialect));
  const names: string[] = [];
  const sql = text.replace(NAMED_VALUE, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return dialect.placeholder(name, names.indexOf(name) + 1);
  });
  return { sql, names, booleans: [...text.matchAll(BOOLEAN_COLUMN)].map(([, name = '']) => name) };
}
