/** Translates the SQL of tests, which is SQLite's, for PostgreSQL. */

const TRIGGER =
  /^\s*CREATE TRIGGER (\w+) ((?:BEFORE|AFTER)\s[^]+?\sON \w+)(?:\s+WHEN\s+([^]+?))?\s+BEGIN\s+([^]+?);?\s*END\s*$/i;
const RAISE = /\bSELECT RAISE\(\w+, ('[^']*')\)/gi;
const DROP_TRIGGER = /^\s*DROP TRIGGER (\w+)\s*$/i;

/** Names of the triggers that tests have ended, outside the schema of the product. */
const ENDED = 'test.ended_triggers';

/** Quoted texts, which stay; placeholders; `rowid`; and names with capitals, which PostgreSQL lowercases unquoted. */
const PART = /('[^']*'|"[^"]*")|\?(\d*)|\b(rowid)\b|\b([a-z]+[A-Z]\w*)/g;

/** The sum of integers is `numeric`, which the driver returns as a text. */
const SUM = /\bsum\([^()]*\)/gi;

/** Returns a statement for PostgreSQL. Ids sort in the order of insertion, as `rowid` does. */
export function postgresSql(sql: string): string {
  const [, name, events, condition, body] = TRIGGER.exec(sql) ?? [];
  if (name && events && body) return trigger(name, events, condition, body);
  const [, dropped] = DROP_TRIGGER.exec(sql) ?? [];
  if (dropped) return `INSERT INTO ${ENDED} VALUES ('${dropped}')`;
  let position = 0;
  return sql
    .replace(SUM, 'CAST($& AS bigint)')
    .replace(PART, (_, quoted?: string, number?: string, rowid?: string, name?: string) => {
      if (number !== undefined) return `$${number || (position += 1)}`;
      if (rowid) return 'id';
      return quoted ?? `"${name}"`;
    });
}

/** Checks {@link ENDED} at each write: dropping a trigger would wait for every change of its table that runs. */
function trigger(name: string, events: string, condition = 'true', body: string): string {
  return `CREATE SCHEMA IF NOT EXISTS test;
    CREATE TABLE IF NOT EXISTS ${ENDED} (name text);
    DELETE FROM ${ENDED} WHERE name = '${name}';
    DROP FUNCTION IF EXISTS "${name}" CASCADE;
    CREATE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (SELECT 1 FROM ${ENDED} WHERE name = '${name}') AND (${condition}) THEN
        ${body.replaceAll(RAISE, 'RAISE EXCEPTION $1')};
      END IF;
      IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER "${name}" ${events} FOR EACH ROW EXECUTE FUNCTION "${name}"()`;
}
