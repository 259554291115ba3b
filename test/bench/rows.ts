/**
 * Rows of large tenants, written straight into a database file, since creating a million sessions through the API
 * takes too long. Omitted columns have their defaults.
 */
import type { Database } from 'bun:sqlite';
import { newId } from '../../src/core/id.ts';
import { systemRandom } from '../../src/core/random.ts';
import { tokensOf } from '../../src/core/search-tokens.ts';
import { hashSecret, mintSecret } from '../../src/core/secret.ts';
import { searchTextOf } from '../../src/store/member-index.ts';

const ROWS_PER_TRANSACTION = 20_000;

/** Sessions were last seen long enough ago for their next use to be written. */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Runs `work` for 0 … count − 1, many per transaction. */
function repeat(sqlite: Database, count: number, work: (index: number) => void): void {
  for (let start = 0; start < count; start += ROWS_PER_TRANSACTION)
    sqlite.transaction(() => {
      const end = Math.min(count, start + ROWS_PER_TRANSACTION);
      for (let index = start; index < end; index += 1) work(index);
    })();
}

/** Columns from which the search text of a person derives, besides the address. */
const NAMED = {
  username: null,
  name: null,
  fullName: null,
  givenName: 'Ada',
  familyName: 'Lovelace',
  reservedEmail: null,
  reservedProfile: null,
  profileUserId: null,
};

export interface Person {
  readonly userId: string;
  readonly memberId: string;
  readonly email: string;
}

/**
 * Inserts members of an application, each a new person, last seen a second apart. They are in the search index: filling
 * it is a background task, which would run during the measurement.
 */
export function insertMembers(
  sqlite: Database,
  applicationId: string,
  count: number,
  { prefix = 'person' }: { readonly prefix?: string } = {},
): Person[] {
  const now = Date.now();
  const user = sqlite.prepare(
    `INSERT INTO users (id, kind, email, given_name, family_name, created_at, updated_at)
     VALUES (?1, 'person', ?2, 'Ada', 'Lovelace', ?3, ?3)`,
  );
  const member = sqlite.prepare(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at, scopes_updated_at,
       memberships_updated_at, created_at, updated_at) VALUES (?1, ?2, ?3, 'active', ?4, ?5, ?5, ?5, ?5, ?5)`,
  );
  const index = sqlite.prepare('UPDATE member_search SET handles = ?1, names = ?2, tokens = ?3 WHERE member_id = ?4');
  const people: Person[] = [];
  repeat(sqlite, count, (at) => {
    const person = {
      userId: newId('user', now),
      memberId: newId('applicationUser', now),
      email: `${prefix}${at}@example.com`,
    };
    user.run(person.userId, person.email, now);
    member.run(person.memberId, applicationId, person.userId, now - HOUR - at * 1000, now);
    const { handles, names } = searchTextOf({ ...NAMED, email: person.email });
    const tokens = [...tokensOf(applicationId, 'handles', handles), ...tokensOf(applicationId, 'names', names)];
    index.run(handles, names, tokens.join(' '), person.memberId);
    people.push(person);
  });
  return people;
}

/** Gives each person a role of the application. @returns its id. */
export function giveRole(sqlite: Database, applicationId: string, slug: string, people: readonly Person[]): string {
  const { id } = sqlite
    .query('SELECT id FROM roles WHERE application_id = ? AND slug = ?')
    .get(applicationId, slug) as { id: string };
  const grant = sqlite.prepare('INSERT INTO application_user_roles VALUES (?, ?)');
  repeat(sqlite, people.length, (index) => grant.run(people[index]!.memberId, id));
  return id;
}

/** Inserts open sessions, distributed over the people in turn. @returns their tokens. */
export function insertSessions(sqlite: Database, people: readonly Person[], count: number): string[] {
  const now = Date.now();
  const session = sqlite.prepare(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
     VALUES (?1, ?2, ?3, 'otp', ?4, ?4, ?5)`,
  );
  const tokens: string[] = [];
  repeat(sqlite, count, (index) => {
    const token = mintSecret('session', systemRandom);
    const { memberId } = people[index % people.length]!;
    session.run(newId('session', now), hashSecret(token), memberId, now - HOUR, now + DAY);
    tokens.push(token);
  });
  return tokens;
}

/** Inserts undecided requests for access, or waitlist entries for the opening. */
export function insertInterests(
  sqlite: Database,
  applicationId: string,
  status: 'pending' | 'notify_when_public',
  count: number,
): void {
  const now = Date.now();
  const interest = sqlite.prepare(
    `INSERT INTO beta_interests (id, application_id, email, status, source, created_at, updated_at, epoch)
     SELECT ?1, ?2, ?3, ?4, 'request', ?5, ?5, interest_epoch FROM applications WHERE id = ?2`,
  );
  repeat(sqlite, count, (index) =>
    interest.run(newId('betaInterest', now), applicationId, `waiting${index}@example.com`, status, now),
  );
}

/** Inserts events, each with a delivery to the next endpoint that is due at once or done long ago. */
export function insertDeliveries(
  sqlite: Database,
  applicationId: string,
  webhookIds: readonly string[],
  { count, status }: { readonly count: number; readonly status: 'pending' | 'delivered' },
): void {
  const now = Date.now();
  const event = sqlite.prepare(
    "INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, 'user.banned', ?, ?)",
  );
  const delivery = sqlite.prepare(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at, finished_at)
     VALUES (?1, ?2, ?3, 'user.banned', ?4, 0, ?5, ?5, ?6)`,
  );
  repeat(sqlite, count, (index) => {
    const eventId = newId('event', now);
    event.run(eventId, applicationId, JSON.stringify({ userId: newId('user', now) }), now);
    const webhookId = webhookIds[index % webhookIds.length]!;
    delivery.run(newId('delivery', now), webhookId, eventId, status, now, status === 'delivered' ? now : null);
  });
}

/** Inserts audit records of sign-ins and roles, a tenth of a second apart until now, for the people in turn. */
export function insertAudit(sqlite: Database, applicationId: string, people: readonly Person[], count: number): void {
  const now = Date.now();
  const audit = sqlite.prepare(
    `INSERT INTO audit_records (id, application_id, kind, ok, user_id, email, actor_type, ip_country, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'anonymous', ?, ?)`,
  );
  const kinds = ['signin.succeeded', 'signin.code_sent', 'signin.refused', 'session.signed_out', 'role.assigned'];
  const countries = ['DE', 'FR', 'US', 'GB', 'NL'];
  repeat(sqlite, count, (index) => {
    const { userId, email } = people[index % people.length]!;
    const kind = kinds[index % 5]!;
    const country = index % 1000 === 0 ? 'FI' : countries[index % 5]!;
    const at = now - (count - index) * 100;
    audit.run(newId('audit', at), applicationId, kind, kind === 'signin.refused' ? 0 : 1, userId, email, country, at);
  });
}
