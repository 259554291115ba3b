/**
 * Model of the query cache: after any change of what a verification reads, each cached answer equals an uncached one, and
 * the answers of a tenant that the change does not concern are still cached.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { newId } from '@/core/id.ts';
import { systemRandom } from '@/core/random.ts';
import { hashSecret, mintSecret } from '@/core/secret.ts';
import type { Reader, Unit } from '@/db/database.ts';
import * as keys from '@/store/api-keys.ts';
import * as applications from '@/store/applications.ts';
import * as grants from '@/store/grants.ts';
import * as handles from '@/store/handles.ts';
import * as members from '@/store/members.ts';
import { insertPerson, updateUser } from '@/store/people.ts';
import * as reservations from '@/store/reservations.ts';
import { purgeBatch } from '@/store/retention.ts';
import * as sessions from '@/store/sessions.ts';
import { noteExpiryReported } from '@/store/expired-sessions.ts';
import { ensureUnprovedProfile, returnToReservations, takeReservation } from '@/store/unproved-profiles.ts';
import { findKeyCredential, findKeySubject, findSessionSubject } from '@/store/verification.ts';
import { advanceWaitlistEpoch } from '@/store/waitlist.ts';
import * as seats from '@/store/workspace-members.ts';
import { ENGINE } from '../support/engine.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance, START } from '../support/instance.ts';
import { amount } from '../support/long.ts';

/** People, applications, grants and credentials of one workspace. */
interface Tenant {
  readonly workspaceId: string;
  readonly applicationIds: readonly string[];
  readonly userIds: readonly string[];
  readonly memberIds: readonly string[];
  readonly grantIds: Readonly<Record<grants.GrantKind, readonly string[]>>;
  readonly sessionIds: readonly string[];
  readonly keyIds: readonly string[];
  /** Members of the keys' principals, and of the personal keys' owners. */
  readonly holderIds: readonly string[];
  readonly hashes: readonly Uint8Array[];
}

let instance: Instance;
let tenants: readonly [Tenant, Tenant];

const write = <Result>(work: (unit: Unit) => Promise<Result>) => instance.db.write(SYSTEM_ACTOR, work);

beforeAll(async () => {
  instance = await createInstance();
  tenants = [await makeTenant('One'), await makeTenant('Two')];
});
afterAll(() => instance.db.close());

async function makeTenant(name: string): Promise<Tenant> {
  const { workspaceId, application } = await given.tenant(instance, name);
  const second = await instance.services.applications.create(SYSTEM_ACTOR, workspaceId, { name: `${name} too` });
  const applicationIds = [application.id, second.id];
  const hashes: Uint8Array[] = [];
  const mint = (kind: 'apiKey' | 'session') => {
    const tokenHash = Buffer.from(hashSecret(mintSecret(kind, systemRandom)));
    hashes.push(tokenHash);
    return tokenHash;
  };
  const userIds: string[] = [];
  const memberIds: string[] = [];
  const sessionIds: string[] = [];
  const keyIds: string[] = [];
  const holderIds: string[] = [];
  const grantIds = { roles: [] as string[], scopes: [] as string[], memberships: [] as string[] };
  await write(async (unit) => {
    for (const kind of grants.ALL_KINDS)
      for (const slug of ['a', 'b']) {
        const texts = { applicationId: application.id, slug: `${slug}-of-${kind}`, name: slug, description: null };
        grantIds[kind].push((await grants.insertGrant(unit, kind, { ...texts, isDefault: false })).id);
      }
    for (const person of ['ada', 'bob', 'cleo']) {
      const { id: userId } = await insertPerson(unit, `${person}@${name.toLowerCase()}.example`, true);
      userIds.push(userId);
      for (const applicationId of applicationIds) {
        const { id } = await members.insertMemberRow(unit, { applicationId, userId });
        memberIds.push(id);
        const session = {
          memberId: id,
          applicationId,
          applicationEpoch: 0,
          method: 'otp',
          credentialId: null,
          userAgent: null,
          expiresAt: START + DAY,
          authenticatedAt: null,
        };
        sessionIds.push(newId('session', unit.now));
        await sessions.insertSession(unit, { ...session, id: sessionIds.at(-1) ?? '', tokenHash: mint('session') });
      }
    }
    const [owner = ''] = userIds;
    await seats.insertWorkspaceMember(unit, workspaceId, { userId: owner, role: 'owner' });
    const newKey = async (memberId: string, columns: Partial<keys.NewApiKey>) => {
      const id = newId('apiKey', unit.now);
      const access = { access: 'full', perMinute: 10, perDay: 100, source: 'api', prefix: 'eak_', name: 'k' } as const;
      const times = { createdAt: unit.now, updatedAt: unit.now };
      const whose = { workspaceId, applicationId: application.id, applicationUserId: memberId };
      await keys.insertKey(unit, { id, tokenHash: mint('apiKey'), ...access, ...times, ...whose, ...columns });
      keyIds.push(id);
      holderIds.push(memberId);
      return id;
    };
    const [memberId = '', , another = ''] = memberIds;
    const deviceKeyId = await newKey(memberId, { source: 'device' });
    await newKey(another, { source: 'device' });
    const principal = async () => {
      const { id: userId } = await insertPerson(unit, `${newId('user', unit.now)}@api-key.invalid`, false);
      userIds.push(userId);
      return (await members.insertMemberRow(unit, { applicationId: application.id, userId })).id;
    };
    await newKey(await principal(), {});
    await newKey(await principal(), { deviceKeyId, expiresAt: START + DAY });
    await newKey(await principal(), { deviceKeyId, applicationId: null });
  });
  return { workspaceId, applicationIds, userIds, memberIds, grantIds, sessionIds, keyIds, holderIds, hashes };
}

const asSession = (row: object, application: object, held: object) => ({ row, application, held });
const asKey = (row: object, application: object, held: object) => ({ row, application, held });
const asCredential = (row: object) => row;

/** Returns all that verification reads of a tenant's credentials. */
async function answersOf(reader: Reader, { hashes }: Tenant): Promise<(object | undefined)[]> {
  const answers = hashes.map((hash) => [
    findSessionSubject(reader, hash, asSession),
    findKeySubject(reader, hash, asKey),
    findKeyCredential(reader, hash, asCredential),
  ]);
  return Promise.all(answers.flat());
}

type Step = (unit: Unit, tenant: Tenant, pick: <Item>(items: readonly Item[]) => Item) => Promise<unknown>;

let turn = 0;
const name = () => `n${(turn += 1)}`;
const kindIn = (pick: Parameters<Step>[2]) => pick(grants.ALL_KINDS);

/** Every change that the store makes to a table that verification reads. */
const STEPS: Readonly<Record<string, Step>> = {
  updateUser: (unit, { userIds }, pick) => updateUser(unit, pick(userIds), { fullName: name() }),
  deleteUser: (unit, { userIds }, pick) => updateUser(unit, pick(userIds), { deletedAt: pick([null, unit.now]) }),
  updateMember: (unit, { memberIds }, pick) => members.updateMember(unit, pick(memberIds), { username: name() }),
  updateMembers: (unit, { memberIds }) => members.updateMembers(unit, memberIds, { statusReason: name() }),
  setMemberStatus: (unit, { memberIds, holderIds }, pick) =>
    members.setMemberStatus(unit, pick([...memberIds, ...holderIds]), pick(['active', 'banned', 'paused'])),
  changeUsername: (unit, { memberIds }, pick) => handles.changeUsername(unit, pick(memberIds), name()),
  changeExternalId: (unit, { memberIds }, pick) => handles.changeExternalId(unit, pick(memberIds), name()),
  bumpMemberEpoch: (unit, { memberIds }, pick) => members.bumpMemberEpoch(unit, pick(memberIds)),
  async linkGrant(unit, { memberIds, grantIds }, pick) {
    const [kind, memberId] = [kindIn(pick), pick(memberIds)];
    const id = pick(grantIds[kind]);
    await grants.unlinkGrant(unit, kind, [memberId], id);
    await grants.linkGrant(unit, kind, memberId, id);
    await grants.touchHolders(unit, kind, [memberId]);
  },
  async unlinkGrant(unit, { memberIds, grantIds }, pick) {
    const kind = kindIn(pick);
    await grants.unlinkGrant(unit, kind, memberIds.slice(0, 4), pick(grantIds[kind]));
  },
  clearGrants: (unit, { memberIds }, pick) => grants.clearGrants(unit, [pick(memberIds)]),
  async updateGrant(unit, { grantIds }, pick) {
    const kind = kindIn(pick);
    await grants.updateGrant(unit, kind, pick(grantIds[kind]), { slug: name() });
  },
  async markGrantRemoved(unit, { grantIds }, pick) {
    const kind = kindIn(pick);
    await grants.markGrantRemoved(unit, kind, pick(grantIds[kind].slice(1)));
  },
  updateApplication: (unit, { applicationIds }, pick) =>
    applications.updateApplication(unit, pick(applicationIds), { slug: name() }),
  bumpApplicationEpoch: (unit, { applicationIds }, pick) =>
    applications.bumpApplicationEpoch(unit, pick(applicationIds)),
  advanceWaitlistEpoch: (unit, { applicationIds }, pick) => advanceWaitlistEpoch(unit, pick(applicationIds)),
  revokeSession: (unit, { sessionIds }, pick) =>
    sessions.revokeSessionRow(unit, { sessionId: pick(sessionIds), at: unit.now, reason: 'test' }),
  spareSession: (unit, { sessionIds }, pick) => sessions.spareSession(unit, pick(sessionIds)),
  noteExpiryReported: (unit, { sessionIds }, pick) => noteExpiryReported(unit, pick(sessionIds)),
  updateKey: (unit, { keyIds }, pick) => keys.updateKey(unit, pick(keyIds), { perMinute: pick([1, 2, 3]) }),
  revokeKey: (unit, { keyIds }, pick) => keys.updateKey(unit, pick(keyIds), { revokedAt: pick([null, unit.now]) }),
  endPersonalKey: (unit, { keyIds }, pick) => keys.endPersonalKeys(unit, { keyId: pick(keyIds) }),
  endKeysOfMember: (unit, { holderIds }, pick) => keys.endPersonalKeys(unit, { memberIds: [pick(holderIds)] }),
  endKeysOfApplication: (unit, { applicationIds }, pick) =>
    keys.endPersonalKeys(unit, { applicationId: pick(applicationIds), limit: 1 }),
  forgetPersonalKeys: (unit, { holderIds }, pick) => keys.forgetPersonalKeys(unit, [pick(holderIds)]),
  endSharedKeys: (unit, { holderIds }, pick) => keys.endSharedKeys(unit, { memberId: pick(holderIds), limit: 1 }),
  async changeSeat(unit, { workspaceId, userIds }, pick) {
    const [userId = ''] = userIds;
    const seat = await seats.findWorkspaceMember(unit, workspaceId, userId);
    if (!seat) await seats.insertWorkspaceMember(unit, workspaceId, { userId, role: 'admin' });
    else if (pick([true, false])) await seats.setWorkspaceRole(unit, seat, pick(['owner', 'member']));
    else await seats.deleteWorkspaceMember(unit, seat);
  },
  deleteSeats: (unit, { userIds }, pick) => seats.deleteWorkspaceMembershipsOf(unit, pick(userIds.slice(0, 2))),
  async invite(unit, { workspaceId, userIds }) {
    const [userId = ''] = userIds;
    await seats.deleteWorkspaceMembershipsOf(unit, userId);
    await seats.insertWorkspaceMember(unit, workspaceId, {
      userId,
      role: 'admin',
      invitedEmail: `${name()}@i.example`,
    });
  },
  acceptInvitations: (unit, { userIds }) =>
    reservations.acceptInvitations(unit, { id: userIds[0] ?? '', email: 'nobody@i.example' }),
  async unproved(unit, { workspaceId, memberIds, userIds }, pick) {
    const { profile } = await ensureUnprovedProfile(unit, pick(userIds), workspaceId);
    const memberId = pick(memberIds);
    const { userId } = await members.requireMemberById(unit, memberId);
    await takeReservation(unit, { memberId, userId, profileId: profile.id });
    await updateUser(unit, profile.id, { fullName: name() });
    if (pick([true, false])) await returnToReservations(unit, profile.id);
  },
  async redeem(unit, { memberIds }, pick) {
    const memberId = pick(memberIds);
    const { userId } = await members.requireMemberById(unit, memberId);
    await reservations.redeemReservation(unit, { memberId, userId });
    await members.updateMember(unit, memberId, { profileUserId: null });
  },
};

/** Makes the personal key work again, so that what depends on it can end once more. */
async function restore(unit: Unit, { workspaceId, userIds, memberIds, keyIds }: Tenant): Promise<void> {
  const [[userId = ''], [memberId = ''], [keyId = '']] = [userIds, memberIds, keyIds];
  const { applicationId } = await members.requireMemberById(unit, memberId);
  const { sessionEpoch: epoch } = await applications.requireApplication(unit, applicationId);
  await keys.updateKey(unit, keyId, { epoch, revokedAt: null, endedAt: null });
  await members.setMemberStatus(unit, memberId, 'active');
  await updateUser(unit, userId, { deletedAt: null });
  await seats.deleteWorkspaceMembershipsOf(unit, userId);
  await seats.insertWorkspaceMember(unit, workspaceId, { userId, role: 'owner' });
}

/** Changes of every tenant's rows that are due. */
const OF_ALL: Readonly<Record<string, (unit: Unit) => Promise<unknown>>> = {
  endKeysByTime: (unit) => keys.endKeysByTime(unit, 1),
  purgeRevoked: (unit) => purgeBatch(unit, 'revokedSessions', unit.now + 1, 1),
};

const steps = fc.array(
  fc.record({
    step: fc.constantFrom(...Object.keys(STEPS)),
    seeds: fc.array(fc.nat(99), { minLength: 4, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
);

test('a cached answer equals an uncached one after any change, and stays cached after those of another tenant', async () => {
  const [changed, other] = tenants;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      for (const { step, seeds } of list) {
        if (seeds[3]! % 2 === 0) await write((unit) => restore(unit, changed));
        // A key is cached from its second request on.
        for (let time = 0; time < 2; time += 1)
          for (const tenant of tenants) await answersOf(instance.db.reader, tenant);
        const before = await answersOf(instance.db.reader, other);
        let at = 0;
        await write((unit) => STEPS[step]!(unit, changed, (items) => items[seeds[at++ % 4]! % items.length]!));
        expect(await answersOf(instance.db.reader, changed), step).toEqual(
          await write((unit) => answersOf(unit, changed)),
        );
        const after = await answersOf(instance.db.reader, other);
        expect(after).toEqual(await write((unit) => answersOf(unit, other)));
        if (ENGINE === 'sqlite')
          expect(after.filter((answer, index) => answer !== before[index]).length, `forgotten by ${step}`).toBe(0);
      }
    }),
    // PostgreSQL caches nothing: there, a few runs are enough.
    { numRuns: ENGINE === 'sqlite' ? amount(60, 2000) : 3 },
  );
}, 600_000);

test.each(Object.keys(OF_ALL))('a cached answer equals an uncached one after %s', async (step) => {
  instance.clock.advance(2 * DAY);
  for (let time = 0; time < 3; time += 1) {
    for (const tenant of [...tenants, ...tenants]) await answersOf(instance.db.reader, tenant);
    await write(OF_ALL[step]!);
    for (const tenant of tenants)
      expect(await answersOf(instance.db.reader, tenant)).toEqual(await write((unit) => answersOf(unit, tenant)));
  }
});
