/** A signed-in person and what they do with their account, for the tests of it. */
import { MINUTE } from '@/core/clock.ts';
import { type Answer, createInstance, type Instance } from '../../support/instance.ts';

export interface Person {
  readonly token: string;
  readonly userId: string;
}

export async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
  return { instance, application, other, ada, elsewhere };
}

export const problemOf = ({ status, json }: Answer) => [status, json.error ?? 'ok'];

/** A call of a person with their session. */
export const as =
  (instance: Instance, { token }: Pick<Person, 'token'>) =>
  (method: string, path: string, body?: unknown) =>
    instance.call(method, `/api/account${path}`, { token, body });

export interface Mail {
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly code: string | null;
}

/** Newest first. */
export function mailsTo({ sqlite }: Instance, email: string): Mail[] {
  return sqlite
    .query('SELECT recipient, subject, text, code FROM mails WHERE recipient = ? ORDER BY rowid DESC')
    .all(email) as Mail[];
}

/** Changes the address and answers with the confirmation. */
export async function changeEmail(instance: Instance, person: Person, email: string): Promise<Answer> {
  const call = as(instance, person);
  const { json } = await call('POST', '/email', { email });
  return call('POST', '/email/confirm', { challengeId: json.data.challengeId, code: instance.codeFor(email) });
}

/** Deletes the account and answers with the confirmation. */
export async function deleteAccount(instance: Instance, person: Person, email: string): Promise<Answer> {
  const call = as(instance, person);
  const { json } = await call('POST', '/deletion');
  return call('DELETE', '', { challengeId: json.data.challengeId, code: instance.codeFor(email) });
}

/** Past the cool-down of codes, and of a fresh session. */
export const later = (instance: Instance) => instance.clock.advance(16 * MINUTE);

/** Gives a person more sessions where they have one: a third is open, a third was ended, a third has expired. */
export function insertSessions({ sqlite, clock }: Instance, { userId }: Person, count: number): void {
  const { id } = sqlite.query('SELECT id FROM application_users WHERE user_id = ?').get(userId) as { id: string };
  const now = clock.now();
  const insert = sqlite.prepare(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, ip, ip_country, user_agent, last_seen_at,
       created_at, expires_at, revoked_at)
     VALUES (?, ?, ?, 'otp', '198.51.100.7', 'AT', 'curl', 1, 1, ?, ?)`,
  );
  sqlite.transaction(() => {
    for (let number = 0; number < count; number += 1)
      insert.run(
        `ses_n${String(number).padStart(6, '0')}`,
        Buffer.from(`token ${number}`),
        id,
        number % 3 === 1 ? now - 1 : now + MINUTE,
        number % 3 === 2 ? number % 5 : null,
      );
  })();
}
