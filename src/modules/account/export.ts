/**
 * Everything held about a person, as JSON: the rows of every table that says something about them. What would let its
 * reader in somewhere (hashes, sealed secrets, codes and the mails that carry them) is left out, and so is what a row says
 * about somebody else.
 */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { requireOwnProof } from './freshness.ts';

const OWN_MEMBERSHIPS = '(SELECT id FROM application_users WHERE user_id = ?1)';
const OWN_SESSIONS = `(SELECT id FROM sessions WHERE application_user_id IN ${OWN_MEMBERSHIPS})`;
const OWN_EMAILS = '(SELECT email FROM users WHERE id = ?1 UNION SELECT email FROM email_aliases WHERE user_id = ?1)';

/** Which rows of a table are about the person `?1`. A table that is not named here holds nobody's data. */
export const PERSONAL_ROWS: Readonly<Record<string, string>> = {
  users: 'id = ?1',
  email_aliases: 'user_id = ?1',
  user_languages: 'user_id = ?1',
  user_addresses: 'user_id = ?1',
  legal_entities: 'user_id = ?1',
  user_images: 'user_id = ?1',
  application_users: 'user_id = ?1',
  application_user_roles: `application_user_id IN ${OWN_MEMBERSHIPS}`,
  application_user_scopes: `application_user_id IN ${OWN_MEMBERSHIPS}`,
  application_user_groups: `application_user_id IN ${OWN_MEMBERSHIPS}`,
  workspace_members: 'user_id = ?1',
  sessions: `application_user_id IN ${OWN_MEMBERSHIPS}`,
  passkeys: 'user_id = ?1',
  passkey_challenges: `session_id IN ${OWN_SESSIONS}`,
  provider_identities: 'user_id = ?1',
  provider_states: `session_id IN ${OWN_SESSIONS}`,
  device_grants: `application_user_id IN ${OWN_MEMBERSHIPS} OR claimed_session_id IN ${OWN_SESSIONS}`,
  // Keys of a workspace are not the person's, but who made them is on record.
  api_keys: `application_user_id IN ${OWN_MEMBERSHIPS} OR created_by_user_id = ?1`,
  beta_interests: `email IN ${OWN_EMAILS}`,
  code_challenges: `email IN ${OWN_EMAILS} OR session_id IN ${OWN_SESSIONS}`,
  code_failures: `email IN ${OWN_EMAILS}`,
  code_pauses: `email IN ${OWN_EMAILS}`,
  mails: `recipient IN ${OWN_EMAILS}`,
  events: `json_extract(data, '$.userId') = ?1`,
  // Not what they did to others: that is about the others.
  audit_records: `user_id = ?1 OR (user_id IS NULL AND (actor_user_id = ?1 OR email IN ${OWN_EMAILS}))`,
  rate_counters: `subject = ?1 OR subject IN ${OWN_EMAILS} OR subject IN ${OWN_SESSIONS}`,
};

/** Never handed out: what stands for a secret, what carries one (subjects of mails do), and who decided over the person. */
const WITHHELD: Readonly<Record<string, readonly string[]>> = {
  sessions: ['token_hash'],
  api_keys: ['token_hash'],
  passkey_challenges: ['challenge'],
  provider_states: ['state_hash', 'browser_hash'],
  device_grants: ['device_code_hash', 'user_code_digest'],
  // Anyone may ask for a code to an address; their session is theirs.
  code_challenges: ['code_digest', 'data', 'session_id'],
  mails: ['subject', 'text', 'html', 'code'],
  beta_interests: ['decided_by_id'],
};

/** Who did it, and from where, where that was somebody else. */
const OF_ANOTHER_ACTOR = ['actor_user_id', 'actor_api_key_id', 'ip', 'ip_country', 'request_id'];

const JSON_COLUMNS = new Set([
  'region',
  'avatar_sizes',
  'banner_sizes',
  'transports',
  'application_ids',
  'data',
  'detail',
]);

/** Rows read in one go; others have their turn in between. */
const BATCH = 500;

type Row = Record<string, unknown>;

export type Exports = ReturnType<typeof exportService>;

export function exportService(db: Database) {
  const tables = Object.entries(PERSONAL_ROWS).map(([table, condition]) => ({ table, condition }));

  /** Rows of a table in batches. Which they are is read at once; that is short even where they are many. */
  async function* rowsOf(table: string, condition: string, userId: string): AsyncGenerator<Row[]> {
    const { isWithoutRowid } = db.sqlite
      .query<{ isWithoutRowid: number }, [string]>('SELECT wr AS isWithoutRowid FROM pragma_table_list WHERE name = ?')
      .get(table)!;
    if (isWithoutRowid) {
      yield db.sqlite.query<Row, [string]>(`SELECT * FROM ${table} WHERE ${condition}`).all(userId);
      return;
    }
    const ids = db.sqlite.query(`SELECT rowid FROM ${table} WHERE ${condition}`).values(userId).flat();
    for (let from = 0; from < ids.length; from += BATCH) {
      const batch = JSON.stringify(ids.slice(from, from + BATCH));
      yield db.sqlite
        .query<Row, [string]>(`SELECT * FROM ${table} WHERE rowid IN (SELECT value FROM json_each(?))`)
        .all(batch);
      await Bun.sleep(0);
    }
  }

  async function* pieces(userId: string, exportedAt: string): AsyncGenerator<string> {
    yield `{"success":true,"data":{"exportedAt":${JSON.stringify(exportedAt)},"userId":${JSON.stringify(userId)},"tables":{`;
    for (const [index, { table, condition }] of tables.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(camelCase(table))}:[`;
      let isFirst = true;
      for await (const rows of rowsOf(table, condition, userId)) {
        if (rows.length === 0) continue;
        const text = rows.map((row) => JSON.stringify(present(table, row, userId))).join(',');
        yield isFirst ? text : `,${text}`;
        isFirst = false;
      }
      yield ']';
    }
    yield '}}}';
  }

  return {
    /**
     * The answer's body, made as it is read. That there was an export goes on record first.
     *
     * @throws {AppError} reauthentication_required
     */
    everything(actor: Actor, principal: SessionPrincipal): ReadableStream<Uint8Array> {
      const { userId, applicationId } = principal;
      const exportedAt = db.write(actor, (unit) => {
        requireOwnProof(unit, principal);
        unit.audit({ kind: 'account.exported', applicationId, userId });
        return isoTime(unit.now);
      });
      const source = pieces(userId, exportedAt);
      const encoder = new TextEncoder();
      return new ReadableStream({
        async pull(controller) {
          const { value, done } = await source.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        },
        async cancel() {
          await source.return(undefined);
        },
      });
    },
  };
}

function present(table: string, row: Row, userId: string): Row {
  const isOfAnother = table === 'audit_records' && row['actor_user_id'] !== userId;
  const withheld = isOfAnother ? OF_ANOTHER_ACTOR : (WITHHELD[table] ?? []);
  return Object.fromEntries(
    Object.entries(row)
      .filter(([column]) => !withheld.includes(column))
      .map(([column, value]) => [camelCase(column), readable(column, value)]),
  );
}

/** Times as ISO 8601, binary as base64, JSON as what it says. */
function readable(column: string, value: unknown): unknown {
  if (typeof value === 'number' && /_(?:at|until|after)$/.test(column)) return isoTime(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'string' && JSON_COLUMNS.has(column) ? JSON.parse(value) : value;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
