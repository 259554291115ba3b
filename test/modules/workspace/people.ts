/** A workspace with an owner, an admin and a member, each signed in to the console. */
import { expect } from 'bun:test';
import { MINUTE } from '../../../src/core/clock.ts';
import { type Answer, createInstance, type Instance } from '../../support/instance.ts';

export const MEMBERS = '/api/workspace/members';

export interface Person {
  readonly email: string;
  readonly memberId: string;
  readonly userId: string;
  readonly token: string;
}

/** Waits until the mail is sent, so that nothing changes during a later assertion. */
export async function invite(instance: Instance, email: string, role: string, token = instance.workspaceKey) {
  const answer = await instance.call('POST', MEMBERS, { token, body: { email, role } });
  await instance.services.mail.runOnce();
  return answer;
}

/** Signs in to the console; returns a refusal as its error code. */
export async function enterConsole(instance: Instance, email: string): Promise<{ token: string } | string> {
  instance.clock.advance(MINUTE);
  const { json } = await instance.trySignIn('console', email);
  await instance.services.mail.runOnce();
  return json.success ? json.data : json.error;
}

export async function tokenOf(instance: Instance, email: string): Promise<string> {
  const entered = await enterConsole(instance, email);
  if (typeof entered === 'string') throw new Error(`${email} may not come in: ${entered}`);
  return entered.token;
}

export interface MemberRow {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly role: string;
  readonly createdAt: string;
}

export async function membersOf(instance: Instance, token = instance.workspaceKey): Promise<MemberRow[]> {
  const { json }: Answer = await instance.call('GET', `${MEMBERS}?limit=200`, { token });
  return json.data.items;
}

/** Returns `email: role` of all members. */
export async function rolesOf(instance: Instance): Promise<Record<string, string>> {
  return Object.fromEntries((await membersOf(instance)).map(({ email, role }) => [email, role]));
}

/** Uses an owner as the inviter of further owners, since keys cannot make one. */
export async function addPerson(instance: Instance, email: string, role: string): Promise<Person> {
  const inviter = role === 'owner' ? await tokenOf(instance, 'owner@example.com') : instance.workspaceKey;
  const { status, json } = await invite(instance, email, role, inviter);
  expect(status).toBe(200);
  const { id, userId } = json.data;
  return { email, memberId: id, userId, token: await tokenOf(instance, email) };
}

export async function setUpPeople() {
  const instance = await createInstance();
  const admin = await addPerson(instance, 'admin@example.com', 'admin');
  const member = await addPerson(instance, 'member@example.com', 'member');
  const token = await tokenOf(instance, 'owner@example.com');
  const [first] = await membersOf(instance);
  const owner: Person = { email: first!.email, memberId: first!.id, userId: first!.userId, token };
  return { instance, owner, admin, member };
}
