/** A signed-in person and the account operations that the tests use. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { revokeSessionRow } from '@/store/sessions.ts';
import * as given from '../../support/given.ts';
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

/** Calls an account operation with the person's session. */
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

/** Reads the mails to an address, newest first. */
export function mailsTo({ sqlite }: Instance, email: string): Mail[] {
  return sqlite
    .query('SELECT recipient, subject, text, code FROM mails WHERE recipient = ? ORDER BY rowid DESC')
    .all(email) as Mail[];
}

/** The purpose and target of a proof. Without a purpose it covers everything. */
export interface Proof {
  readonly purpose?: string;
  readonly target?: string;
}

/** Requests a proof, and confirms it with the code mailed to the person's current address. */
export async function prove(instance: Instance, person: Person, proof: Proof = {}): Promise<void> {
  const call = as(instance, person);
  const { email } = instance.sqlite.query('SELECT email FROM users WHERE id = ?').get(person.userId) as Record<
    'email',
    string
  >;
  const { json } = await call('POST', '/proof', proof);
  const given = await call('POST', '/proof/confirm', {
    challengeId: json.data.challengeId,
    code: instance.codeFor(email),
  });
  if (given.status !== 200) throw new Error(`the proof was answered ${given.status}: ${given.text}`);
}

export const proofForNewEmail = (email: string): Proof => ({ purpose: 'email_change', target: email });

/** Proves the identity, changes the address, and returns the answer to the confirmation. */
export async function changeEmail(instance: Instance, person: Person, email: string): Promise<Answer> {
  const call = as(instance, person);
  await prove(instance, person, proofForNewEmail(email));
  const { json } = await call('POST', '/email', { email });
  return call('POST', '/email/confirm', { challengeId: json.data.challengeId, code: instance.codeFor(email) });
}

/** Deletes the account and returns the answer to the confirmation. */
export async function deleteAccount(instance: Instance, person: Person, email: string): Promise<Answer> {
  const call = as(instance, person);
  const { json } = await call('POST', '/deletion');
  return call('DELETE', '', { challengeId: json.data.challengeId, code: instance.codeFor(email) });
}

/** Advances past the lockout period of codes, and past the freshness of a session. */
export const later = (instance: Instance) => instance.clock.advance(16 * MINUTE);

/** Adds `each` open, `each` expired and `each` ended sessions to a member. Some ended in the same millisecond. */
export async function addSessions(
  instance: Instance,
  application: Application,
  { userId }: Person,
  each: number,
): Promise<void> {
  await given.sessions(instance, application, userId, each);
  await given.sessions(instance, { ...application, sessionTtlSeconds: 0 }, userId, each);
  const ended = await given.sessions(instance, application, userId, each);
  await instance.db.write(SYSTEM_ACTOR, async (unit) => {
    for (const [index, { sessionId }] of ended.entries())
      await revokeSessionRow(unit, { sessionId, at: unit.now - (index % 5), reason: 'signed_out' });
  });
}
