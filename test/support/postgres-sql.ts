/** Translates the SQL of tests, which is SQLite's, for PostgreSQL. */

const TRIGGER =
  /^\s*CREATE TRIGGER (\w+) ((?:BEFORE|AFTER)\s[^]+?\sON \w+)(?:\s+WHEN\s+([^]+?))?\s+BEGIN\s+([^]+?);?\s*END\s*$/i;
const RAISE = /\bSELECT RAISE\(\w+, ('[^']*')\)/gi;
const DROP_TRIGGER = /^\s*DROP TRIGGER (\w+)\s*$/i;

/** Quoted texts, which stay; placeholders; `rowid`; and names with capitals, which PostgreSQL lowercases unquoted. */
const PART = /('[^']*'|"[^"]*")|\?(\d*)|\b(rowid)\b|\b([a-z]+[A-Z]\w*)/g;

/** The sum of integers is `numeric`, which the driver returns as a text. */
const SUM = /\bsum\([^()]*\)/gi;

/** Returns a statement for PostgreSQL. Ids sort in the order of insertion, as `rowid` does. */
export function postgresSql(sql: string): string {
  const [, name, events, condition, body] = TRIGGER.exec(sql) ?? [];
  if (name && events && body) return trigger(name, events, condition, body);
  const [, dropped] = DROP_TRIGGER.exec(sql) ?? [];
  if (dropped) return `DROP FUNCTION "${dropped}" CASCADE`;
  let position = 0;
  return sql
    .replace(SUM, 'CAST($& AS bigint)')
    .replace(PART, (_, quoted?: string, number?: string, rowid?: string, name?: string) => {
      if (number !== undefined) return `$${number || (position += 1)}`;
      if (rowid) return 'id';
      return quoted ?? `"${name}"`;
    });
}

function trigger(name: string, events: string, condition = 'true', body: string): string {
  return `CREATE FUNCTION "${name}"() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF ${condition} THEN ${body.replaceAll(RAISE, 'RAISE EXCEPTION $1')}; END IF;
      IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER "${name}" ${events} FOR EACH ROW EXECUTE FUNCTION "${name}"()`;
}
