/** Translates the SQL of tests, which is SQLite's, for PostgreSQL. */

const TRIGGER =
  /^\s*CREATE TRIGGER (\w+) ((?:BEFORE|AFTER)\s[^]+?\sON \w+)(?:\s+WHEN\s+([^]+?))?\s+BEGIN\s+([^]+?);?\s*END\s*$/i;
const RAISE = /\bSELECT RAISE\(\w+, ('[^']*')\)/gi;
const DROP_TRIGGER = /^\s*DROP TRIGGER (\w+)\s*$/i;

/** Replaces placeholders and `rowid` outside of quotes, and rewrites triggers. Ids sort in the order of insertion. */
export function postgresSql(sql: string): string {
  const [, name, events, condition, body] = TRIGGER.exec(sql) ?? [];
  if (name && events && body) return trigger(name, events, condition, body);
  const [, dropped] = DROP_TRIGGER.exec(sql) ?? [];
  if (dropped) return `DROP FUNCTION ${dropped} CASCADE`;
  let position = 0;
  return sql.replace(/('[^']*'|"[^"]*")|\?(\d*)|\browid\b/gi, (_, quoted?: string, number?: string) => {
    if (quoted !== undefined) return quoted;
    return number === undefined ? 'id' : `$${number || (position += 1)}`;
  });
}

function trigger(name: string, events: string, condition = 'true', body: string): string {
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${body.replaceAll(RAISE, 'RAISE EXCEPTION $1')};
      IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER ${name} ${events} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION ${name}()`;
}
