/** Connection of the store to PostgreSQL: drizzle's builders and raw statements over one way to run a statement. */
import { drizzle } from 'drizzle-orm/sqlite-proxy';
import type { BoundStatement, Connection, Orm, PreparedBuilder, SqlValue } from '../connection.ts';
import { withBooleans } from '../statements.ts';
import { postgresDialect } from './dialect.ts';
import type { Run } from './driver.ts';
import { type LookupStatements, lookupStatements, postgresLookups } from './lookups.ts';

/** Statements that all connections of an engine share, so that a change builds and compiles none. */
export interface Statements {
  /** Prepared builders, by their declaration. They run on the connection that {@link Connection.execute} is of. */
  readonly prepared: Map<object, unknown>;
  readonly builders: Orm;
  /** Returns a builder's text as the server takes it. */
  textOf(sql: string): string;
  readonly lookups: LookupStatements;
}

/** Texts of builders; those built at each use vary with lists and filters. */
const MAX_TEXTS = 2000;

export function sharedStatements(): Statements {
  const texts = new Map<string, string>();
  return {
    prepared: new Map(),
    builders: buildersOn(async () => {
      throw new Error('a prepared statement has no connection of its own');
    }),
    textOf(sql) {
      let text = texts.get(sql);
      if (text === undefined) {
        if (texts.size >= MAX_TEXTS) texts.clear();
        texts.set(sql, (text = postgresDialect.fromBuilder(sql)));
      }
      return text;
    },
    lookups: lookupStatements(),
  };
}

export interface ConnectionParts {
  readonly statements: Statements;
  readonly run: Run;
  /** Defaults to `run`. */
  readonly runLong?: Run;
  /** Defaults to `run`. */
  readonly runLookup?: Run;
  /** Called for each statement of lookups by key, with their number. */
  readonly onLookups?: (count: number) => void;
  /** Called before each statement. */
  readonly enter?: () => void;
  /** Present inside a change. */
  readonly savepoint?: Connection['savepoint'];
  /** Present inside a change. */
  readonly pipelined?: Connection['pipelined'];
}

export function postgresConnection({
  statements,
  run,
  runLong = run,
  runLookup = run,
  onLookups = () => {},
  enter = () => {},
  savepoint = (part) => part(),
  pipelined = async (run) => void (await run()),
}: ConnectionParts): Connection {
  const client: Client = (sql, values) => run(statements.textOf(sql), values as SqlValue[], true);
  let orm: Orm | undefined;

  async function rows({ compiled, values }: BoundStatement): Promise<object[]> {
    const found = (await run(compiled.sql, values)).rows;
    if (compiled.booleans.length > 0) for (const row of found) withBooleans(compiled, row);
    return found;
  }

  return {
    dialect: postgresDialect,
    get orm() {
      return (orm ??= buildersOn((sql, values) => {
        enter();
        return client(sql, values);
      }));
    },
    prepared: statements.prepared,
    plainOrm: statements.builders,
    enter,
    rows,
    changes: async ({ compiled, values }) => (await run(compiled.sql, values)).count,
    async execute(prepared, values) {
      const here = Object.assign(Object.create(prepared) as PreparedBuilder, { client });
      return here.execute(values);
    },
    async longRows(sql, values) {
      enter();
      return (await runLong(sql, values)).rows;
    },
    savepoint,
    pipelined,
    lookups: postgresLookups(runLookup, statements.lookups, onLookups),
  };
}

/** How drizzle runs a statement: its SQL and values, with each row as a list. */
type Client = (sql: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

function buildersOn(client: Client): Orm {
  return withPlainErrors(drizzle(client)) as unknown as Orm;
}

interface Session {
  prepareQuery(...parts: unknown[]): object;
}

/** Keeps the driver's errors: drizzle wraps them in one that names every value, secrets included. */
function withPlainErrors<Builders extends object>(builders: Builders): Builders {
  const { session } = builders as unknown as { session: Session };
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...parts) =>
    Object.assign(prepare(...parts), {
      queryWithCache: (_text: string, _values: unknown[], query: () => Promise<unknown>) => query(),
    });
  return builders;
}
