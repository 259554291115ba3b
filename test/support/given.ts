/**
 * Sets scenes for tests: through services, or through the store where a test needs a state without the steps that lead
 * to it.
 */
import { type Actor, SYSTEM_ACTOR } from '@/core/actor.ts';
import type { AuditEntry } from '@/core/audit.ts';
import { newId } from '@/core/id.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import type { Unit } from '@/db/database.ts';
import type { ImportRow } from '@/modules/import/model.ts';
import { importService } from '@/modules/import/service.ts';
import type { MintedSession } from '@/modules/sessions/service.ts';
import { type ApiKey, insertKey, updateKey } from '@/store/api-keys.ts';
import {
  type Application,
  type ApplicationColumns,
  findApplication,
  requireApplication,
  updateApplication,
} from '@/store/applications.ts';
import { recordAudit } from '@/store/audit.ts';
import { type GrantKind, heldSlugs, insertGrant } from '@/store/grants.ts';
import { findMember, type Member, updateMember } from '@/store/members.ts';
import { insertPasskey } from '@/store/passkeys.ts';
import { insertAlias, requireUser, updateUser, type User } from '@/store/people.ts';
import { insertIdentity } from '@/store/provider-identities.ts';
import { insertWorkspace } from '@/store/workspaces.ts';
import type { Answer, Instance } from './instance.ts';
import { makeRoomy } from './roomy-key.ts';

/** Client address and country of a session, both of which retention erases. */
const ELSEWHERE: Actor = { ...SYSTEM_ACTOR, ip: '198.51.100.7', ipCountry: 'AT' };

const write = <Result>({ db }: Pick<Instance, 'db'>, work: (unit: Unit) => Promise<Result>): Promise<Result> =>
  db.write(SYSTEM_ACTOR, work);

export interface Tenant {
  readonly workspaceId: string;
  /** A full key of that workspace. */
  readonly workspaceKey: string;
  /** A live application of it. */
  readonly application: Application;
}

/** Creates a workspace in addition to the instance's own. */
export async function tenant(instance: Instance, name = 'Other'): Promise<Tenant> {
  const { db, services } = instance;
  const { applications, apiKeys } = services;
  const workspaceKey = mintSecret('apiKey', systemRandom);
  const workspaceId = await write(instance, async (unit) => {
    const { id } = await insertWorkspace(unit, name, null);
    await apiKeys.adopt(unit, id, workspaceKey);
    return id;
  });
  await makeRoomy(db, workspaceKey);
  const { id } = await applications.create(SYSTEM_ACTOR, workspaceId, { name });
  await applications.publish(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
  await applications.goLive(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
  return { workspaceId, workspaceKey, application: (await findApplication(db.reader, id))! };
}

/** Creates a workspace as the person of a console session, with a full key of it. */
export async function workspaceMadeBy(
  instance: Instance,
  token: string,
  name = 'Made',
): Promise<Pick<Tenant, 'workspaceId' | 'workspaceKey'>> {
  const { status, json, text } = await instance.call('POST', '/api/workspaces', { token, body: { name } });
  if (status !== 200) throw new Error(`a workspace could not be made: ${status} ${text}`);
  const workspaceId: string = json.data.id;
  const workspaceKey = mintSecret('apiKey', systemRandom);
  await write(instance, (unit) => instance.services.apiKeys.adopt(unit, workspaceId, workspaceKey));
  await makeRoomy(instance.db, workspaceKey);
  return { workspaceId, workspaceKey };
}

/** Creates a key of the instance's workspace, limited to some applications if given. */
export async function workspaceKey(instance: Instance, input: Record<string, unknown> = {}) {
  const { json } = await instance.call('POST', '/api/workspace/api-keys', {
    token: instance.workspaceKey,
    body: { name: 'ops', access: 'full', rateLimits: { perMinute: 10_000, perDay: 1_000_000 }, ...input },
  });
  return json.data as { id: string; token: string; userId: string };
}

/** Creates and revokes a key of an application. */
export async function revokedKey(instance: Instance, applicationId: string, input: Record<string, unknown> = {}) {
  const key = await instance.createKey(applicationId, input);
  const token = instance.workspaceKey;
  await instance.call('DELETE', `/api/applications/${applicationId}/api-keys/${key.id}`, { token });
  return key;
}

/** Copies a key: same principal, tokens that nobody knows. */
export function copiesOfKey(instance: Instance, id: string, count: number, columns: Partial<ApiKey> = {}) {
  return inChanges(count, (some) =>
    write(instance, async (unit) => {
      // Changes nothing; returns the row.
      const key = await updateKey(unit, id, {});
      for (let made = 0; made < some; made += 1) {
        const copyId = newId('apiKey', unit.now);
        await insertKey(unit, { ...key, ...columns, id: copyId, tokenHash: Buffer.from(copyId) });
      }
    }),
  );
}

/** Adds a member of the workspace and signs them in to the console. */
export async function consoleMember(instance: Instance, email: string, role: 'admin' | 'member') {
  const { json } = await instance.call('POST', '/api/workspace/members', {
    token: instance.workspaceKey,
    body: { email, role },
  });
  const { token } = await instance.signIn('console', email);
  return { token, userId: json.data.userId as string, memberId: json.data.id as string };
}

/** Archives, deletes or hides an application by the code mailed to its owner. @returns the last answer. */
export async function lifecycle(
  instance: Instance,
  applicationId: string,
  change: { readonly kind: string; readonly skipGrace?: boolean },
): Promise<Answer> {
  const call = (step: string, body: object) =>
    instance.call('POST', `/api/applications/${applicationId}/lifecycle/${step}`, {
      token: instance.workspaceKey,
      body,
    });
  const { challengeId } = (await call('send', change)).json.data;
  return call('confirm', { challengeId, code: instance.codeFor('owner@example.com') });
}

/** Creates a role, scope or group of an application. @returns its id. */
export async function grant(
  { db, services }: Instance,
  kind: GrantKind,
  applicationId: string,
  slug: string,
): Promise<string> {
  const application = (await findApplication(db.reader, applicationId))!;
  return (await services.grants[kind].create(SYSTEM_ACTOR, application, { slug })).id;
}

/** Grants further roles, scopes or groups to a member, creating the missing ones. */
export async function holder(
  instance: Instance,
  kind: GrantKind,
  applicationId: string,
  userId: string,
  ...slugs: string[]
): Promise<void> {
  const { db, services } = instance;
  const application = (await findApplication(db.reader, applicationId))!;
  const known = await services.grants[kind].list(application, { limit: 200 });
  for (const slug of slugs)
    if (!known.items.some((one) => one.slug === slug)) await grant(instance, kind, applicationId, slug);
  const held = await heldSlugs(db.reader, kind, (await findMember(db.reader, applicationId, userId))!.id);
  await services.users.setGrants(SYSTEM_ACTOR, application, userId, kind, [...held, ...slugs]);
}

/** Sets an application's state directly: no session ends and nothing is emitted. */
export function application(instance: Instance, id: string, columns: ApplicationColumns): Promise<unknown> {
  return write(instance, (unit) => updateApplication(unit, id, columns));
}

/** Sets a membership's state directly: its sessions stay and nothing is emitted. */
export function member(
  instance: Instance,
  applicationId: string,
  userId: string,
  columns: Partial<Pick<Member, 'status' | 'statusReason' | 'username' | 'profileUserId'>>,
): Promise<void> {
  return write(instance, async (unit) =>
    updateMember(unit, (await findMember(unit, applicationId, userId))!.id, columns),
  );
}

/** Sets a person's data directly: nothing is emitted. */
export function person(instance: Instance, userId: string, columns: Partial<Omit<User, 'id'>>): Promise<unknown> {
  return write(instance, (unit) => updateUser(unit, userId, columns));
}

/** Imports one person: a reservation, or a member if the workspace knows them. @returns the person's id. */
export async function reservation(
  { db }: Pick<Instance, 'db'>,
  { id }: Pick<Application, 'id'>,
  email: string,
  row: Omit<ImportRow, 'email'> = {},
): Promise<string> {
  const application = (await findApplication(db.reader, id))!;
  const { results } = await importService(db).importUsers(SYSTEM_ACTOR, application, [{ email, ...row }]);
  return results[0]!.userId!;
}

/** Adds an address that belonged to a person earlier. */
export function alias(instance: Instance, email: string, userId: string): Promise<void> {
  return write(instance, (unit) => insertAlias(unit, email, userId));
}

/** Adds passkeys without an authenticator, for all workspaces or for one. @returns their ids. */
export function passkeys(
  instance: Instance,
  userId: string,
  { count = 1, name = 'Key', workspaceId = null }: { count?: number; name?: string; workspaceId?: string | null } = {},
): Promise<string[]> {
  return write(instance, async (unit) => {
    const ids: string[] = [];
    while (ids.length < count) {
      const { id } = await insertPasskey(unit, {
        userId,
        workspaceId,
        credentialId: Buffer.from(newId('passkey', unit.now)),
        publicKey: Buffer.of(1),
        counter: 0,
        transports: [],
        aaguid: '',
        isBackedUp: false,
        name,
      });
      ids.push(id);
    }
    return ids;
  });
}

/** Adds an identity at a provider as a sign-in method of all workspaces. @returns its id. */
export async function identity(instance: Instance, userId: string, subject = '1'): Promise<string> {
  const proved = { issuer: 'https://id.example.com', clientId: 'gatehouse', subject, email: null };
  return (await write(instance, (unit) => insertIdentity(unit, { userId, workspaceId: null, ...proved }))).id;
}

/** Adds sessions of a member, with the application's session lifetime. */
export async function sessions(
  { db, services }: Pick<Instance, 'db' | 'services'>,
  { id: applicationId, sessionTtlSeconds }: Pick<Application, 'id' | 'sessionTtlSeconds'>,
  userId: string,
  count: number,
): Promise<MintedSession[]> {
  const minted: MintedSession[] = [];
  await inChanges(count, async (some) => {
    const made = await db.write(ELSEWHERE, async (unit) => {
      const { id: applicationUserId } = (await findMember(unit, applicationId, userId))!;
      const { email } = await requireUser(unit, userId);
      const application = { ...(await requireApplication(unit, applicationId)), sessionTtlSeconds };
      const whose = { application, applicationUserId, userId };
      const session = { ...whose, email, externalId: null, isNewUser: false };
      const batch: MintedSession[] = [];
      while (batch.length < some)
        batch.push(await services.sessions.mint(unit, { ...session, method: 'otp', userAgent: 'curl' }));
      return batch;
    });
    minted.push(...made);
  });
  return minted;
}

/** Adds equal audit records. */
export function auditRecords(instance: Instance, count: number, entry: AuditEntry): Promise<void> {
  return inChanges(count, (some) =>
    write(instance, async (unit) => {
      for (let made = 0; made < some; made += 1) await recordAudit(unit, entry);
    }),
  );
}

/** Adds grants of a kind, with slugs from `x1`. */
export async function grants(instance: Instance, kind: GrantKind, applicationId: string, count: number): Promise<void> {
  const grant = { applicationId, name: 'x', description: null, isDefault: false };
  let made = 0;
  await inChanges(count, (some) => {
    const slugs = Array.from({ length: some }, () => `x${(made += 1)}`);
    return write(instance, async (unit) => {
      for (const slug of slugs) await insertGrant(unit, kind, { ...grant, slug });
    });
  });
}

/** Rows of one change, far below those that a change has time for. */
const CHANGE_ROWS = 250;

/** Makes many rows in changes of some each. */
async function inChanges(count: number, make: (some: number) => Promise<unknown>): Promise<void> {
  for (let made = 0; made < count; made += CHANGE_ROWS) await make(Math.min(CHANGE_ROWS, count - made));
}

/**
 * Makes writes fail as on a full disk until the returned function is called. Uses SQL, since nothing else can break
 * them.
 *
 * @param writes such as `INSERT ON events` or `UPDATE OF status ON mails`.
 * @param when condition on `NEW` and `OLD`; by default all writes fail.
 */
export function brokenWrites({ sqlite }: Pick<Instance, 'sqlite'>, writes: string, when = 'true'): () => void {
  sqlite.run(`CREATE TRIGGER broken BEFORE ${writes} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
  return () => void sqlite.run('DROP TRIGGER broken');
}
