/** Imports one chunk in one transaction: reads what all rows need at once, then processes them one by one. */
import { displayName } from '../../core/display-name.ts';
import { required } from '../../core/required.ts';
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Application } from '../../store/applications.ts';
import {
  ALL_KINDS,
  defaultGrants,
  findGrantIds,
  type GrantIds,
  type GrantKind,
  heldGrants,
  heldGrantsOf,
  type HeldGrants,
} from '../../store/grants.ts';
import { insertLanguages, listLanguagesOf, type SpokenLanguage } from '../../store/languages.ts';
import { findExternalIdHolders, findUsernameHolders } from '../../store/handles.ts';
import { findMembersOf, type Member, updateMember } from '../../store/members.ts';
import { updateUser, type User } from '../../store/people.ts';
import { addGrants } from '../grants/holders.ts';
import { accountOf, type Recipient, findRecipients, type Stranger } from '../users/recipients.ts';
import { emitProfileUpdate, publishProfile } from '../users/publish.ts';
import { BLANK_PROFILE, differenceOf, filled, profileOf } from '../users/fill-profile.ts';
import { enrolMember, reserveMember } from '../users/members.ts';
import { fillUnproved } from '../users/unproved.ts';
import { type Attributes, fillAttributes, wantedAttributes } from './attributes.ts';
import type { ImportResult, ImportOutcome } from './model.ts';
import type { CleanProfile, CleanRow } from './rows.ts';

export interface ImportedChunk {
  /** One outcome per row, in order. */
  readonly results: ImportResult['results'];
  readonly unknownSlugs: Record<GrantKind, string[]>;
  readonly changed: ReadonlySet<string>;
}

type RowResult = ImportResult['results'][number];

/** State that the rows need, kept up to date so that a row sees the rows before it. */
interface Known {
  readonly defaults: GrantIds;
  readonly grantIds: Record<GrantKind, ReadonlyMap<string, string>>;
  /** By address. */
  readonly addressees: Map<string, Recipient>;
  /** By user. */
  readonly members: Map<string, Member>;
  /** User ids by username. */
  readonly usernames: Map<string, string>;
  /** User ids by external id. */
  readonly externalIds: Map<string, string>;
  /** By membership. */
  readonly held: Map<string, HeldGrants>;
  /** By user id; only users known to the workspace. */
  readonly languages: Map<string, readonly SpokenLanguage[]>;
  /** Users with changes. */
  readonly changed: Set<string>;
}

type Target = Pick<Application, 'id'> & { readonly workspaceId: string };

/** Adds and fills blanks; never removes or overwrites. Reads existing data in a constant number of statements. */
export async function importChunk(unit: Unit, target: Target, rows: readonly CleanRow[]): Promise<ImportedChunk> {
  const known = await readKnown(unit, target, rows);
  const results: RowResult[] = [];
  for (const row of rows) results.push(await importRow(unit, target.id, known, row));
  const unknownOf = (kind: GrantKind) => slugsIn(rows, kind).filter((slug) => !known.grantIds[kind].has(slug));
  return {
    results,
    unknownSlugs: { roles: unknownOf('roles'), scopes: unknownOf('scopes'), memberships: unknownOf('memberships') },
    changed: known.changed,
  };
}

async function readKnown(
  unit: Unit,
  { id: applicationId, workspaceId }: Target,
  rows: readonly CleanRow[],
): Promise<Known> {
  const sound = rows.flatMap(({ email, profile }) => ('error' in profile ? [] : [{ email, profile }]));
  const emails = [...new Set(sound.map(({ email }) => email))];
  const addressees = await findRecipients(unit, workspaceId, emails);
  const userIds = [...addressees.values()].flatMap((one) => accountIdOf(one) ?? []);
  const members = await findMembersOf(unit, applicationId, userIds);
  const memberIds = [...members.values()].map(({ id }) => id);
  const names = sound.flatMap(({ profile: { username } }) => (username === null ? [] : [username]));
  const externalIds = rows.flatMap(({ externalId }) => externalId ?? []);
  const idsOf = (kind: GrantKind) => findGrantIds(unit, kind, applicationId, slugsIn(rows, kind));
  return {
    defaults: await defaultGrants(unit, applicationId),
    grantIds: { roles: await idsOf('roles'), scopes: await idsOf('scopes'), memberships: await idsOf('memberships') },
    addressees,
    members,
    usernames: await findUsernameHolders(unit, applicationId, names),
    externalIds: await findExternalIdHolders(unit, applicationId, externalIds),
    held: await heldGrantsOf(unit, memberIds),
    languages: new Map(await listLanguagesOf(unit, userIds)),
    changed: new Set(),
  };
}

function accountIdOf(addressee: Recipient): string | null {
  if (addressee.kind === 'given_up') return null;
  return addressee.kind === 'known' ? addressee.user.id : addressee.userId;
}

function slugsIn(rows: readonly CleanRow[], kind: GrantKind): string[] {
  return [...new Set(rows.flatMap(({ slugs }) => slugs[kind]))];
}

async function importRow(
  unit: Unit,
  applicationId: string,
  known: Known,
  { email, profile, slugs, ...offered }: CleanRow,
): Promise<RowResult> {
  const skip = (error: string, userId: string | null = null) => ({ email, outcome: 'skipped', userId, error }) as const;
  if ('error' in profile) return skip(profile.error);
  const addressee = required(known.addressees.get(email), 'addressee of a row');
  if (addressee.kind === 'given_up') return skip('email_archived');
  const accountId = accountIdOf(addressee);
  const member = accountId === null ? undefined : known.members.get(accountId);
  if (member?.status === 'deleted' || (addressee.kind === 'known' && addressee.user.deletedAt !== null))
    return skip('user_deleted', accountId);
  // An existing username is kept, so only a blank one can collide.
  const wantedName = member?.username == null ? profile.username : null;
  const nameHolder = wantedName === null ? undefined : known.usernames.get(wantedName);
  // Ids of people without a reservation here are not disclosed.
  if (nameHolder !== undefined && nameHolder !== accountId)
    return skip(`username_taken:${wantedName}`, isExpected(addressee) ? accountId : null);

  const attributes = wantedAttributes(known, member, accountId, offered);
  if ('error' in attributes) return skip(attributes.error, isExpected(addressee) ? accountId : null);

  const userId =
    addressee.kind === 'known'
      ? await fillPerson(unit, known, addressee.user, profile)
      : await reserve(
          unit,
          known,
          { applicationId, email, addressee, member, attributes },
          { ...profile, username: wantedName },
          slugs,
        );
  if (wantedName !== null) known.usernames.set(wantedName, userId);
  if (attributes.externalId != null) known.externalIds.set(attributes.externalId, userId);
  if (member) {
    await setAttributes(unit, known, userId, attributes);
    if (wantedName !== null) await claimUsername(unit, known, userId, wantedName);
    await addNamedGrants(unit, known, userId, slugs);
  } else if (addressee.kind === 'known') {
    const enrolled = { applicationId, userId, username: wantedName, ...attributes };
    known.members.set(userId, await enrolMember(unit, enrolled, joiningGrants(known, slugs)));
  }
  if (!member) known.changed.add(userId);
  const outcome: ImportOutcome = member ? 'already_member' : isExpected(addressee) ? 'linked' : 'created';
  return { email, outcome, userId };
}

/** Returns whether the workspace knows or has reserved the person. */
function isExpected(addressee: Recipient): boolean {
  return addressee.kind === 'known' || (addressee.kind === 'stranger' && addressee.isReserved);
}

/** Fills blank profile fields of a person known to the workspace, and emits what it filled. */
async function fillPerson(unit: Unit, known: Known, user: User, offered: CleanProfile): Promise<string> {
  const before = profileOf(user, known.languages.get(user.id) ?? []);
  const { languages, ...identity } = filled(before, profileOf(offered, offered.languages));
  const { categories, changed } = differenceOf(before, { languages, ...identity });
  if (categories.includes('identity')) {
    const columns = Object.fromEntries(changed.map((field) => [field, identity[field]]));
    known.addressees.set(user.email, { kind: 'known', user: await updateUser(unit, user.id, columns) });
  }
  if (categories.includes('languages')) {
    await insertLanguages(unit, user.id, languages);
    known.languages.set(user.id, languages);
  }
  if (categories.length > 0) known.changed.add(user.id);
  await publishProfile(unit, user.id, categories, changed);
  return user.id;
}

interface Place {
  readonly applicationId: string;
  readonly email: string;
  readonly addressee: Stranger;
  readonly member: Member | undefined;
  readonly attributes: Attributes;
}

/** Reserves a membership for a stranger to the workspace, or fills its reservation's blanks; never their profile. */
async function reserve(
  unit: Unit,
  known: Known,
  { applicationId, email, addressee, member, attributes }: Place,
  { username, ...offered }: CleanProfile,
  slugs: CleanRow['slugs'],
): Promise<string> {
  const userId = await accountOf(unit, addressee);
  const before = member?.reservedProfile ?? BLANK_PROFILE;
  const reservedProfile = filled(before, profileOf(offered, offered.languages));
  if (!member) {
    const reservation = { applicationId, userId, username, reservedEmail: email, reservedProfile, ...attributes };
    known.addressees.set(email, { ...addressee, userId, isReserved: true });
    known.members.set(userId, await reserveMember(unit, reservation, joiningGrants(known, slugs)));
    return userId;
  }
  const difference = differenceOf(before, reservedProfile);
  if (difference.categories.length === 0) return userId;
  await updateMember(unit, member.id, { reservedProfile });
  known.changed.add(userId);
  known.members.set(userId, { ...member, reservedProfile });
  if (member.profileUserId !== null) {
    await fillUnproved(unit, member.profileUserId, reservedProfile);
    return userId;
  }
  const name = displayName({ ...reservedProfile, name: null });
  await emitProfileUpdate(unit, member, { name, ...difference });
  return userId;
}

async function claimUsername(unit: Unit, { members, changed }: Known, userId: string, username: string): Promise<void> {
  changed.add(userId);
  const member = required(members.get(userId), `membership of ${userId}`);
  const { id, applicationId } = member;
  await updateMember(unit, id, { username });
  members.set(userId, { ...member, username });
  await emit(unit, {
    type: 'user.username_changed',
    applicationId,
    data: { userId, username, previousUsername: null },
  });
}

async function setAttributes(unit: Unit, known: Known, userId: string, attributes: Attributes): Promise<void> {
  const set = await fillAttributes(unit, required(known.members.get(userId), `membership of ${userId}`), attributes);
  if (!set) return;
  known.changed.add(userId);
  known.members.set(userId, set);
}

async function addNamedGrants(unit: Unit, known: Known, userId: string, slugs: CleanRow['slugs']): Promise<void> {
  if (ALL_KINDS.every((kind) => slugs[kind].length === 0)) return;
  const member = required(known.members.get(userId), `membership of ${userId}`);
  // Members who joined in this chunk are not in the state read at its start.
  const held = known.held.get(member.id) ?? (await heldGrants(unit, member.id));
  for (const kind of ALL_KINDS) {
    const before = held[kind];
    held[kind] = await addGrants(unit, kind, member, before, pick(known.grantIds[kind], slugs[kind]));
    if (held[kind].length > before.length) known.changed.add(userId);
  }
  known.held.set(member.id, held);
}

/** Returns a new member's grants: the application's defaults and those of the row. */
function joiningGrants({ defaults, grantIds }: Known, slugs: CleanRow['slugs']): GrantIds {
  const idsOf = (kind: GrantKind) => [...new Set([...defaults[kind], ...pick(grantIds[kind], slugs[kind]).values()])];
  return { roles: idsOf('roles'), scopes: idsOf('scopes'), memberships: idsOf('memberships') };
}

function pick(ids: ReadonlyMap<string, string>, slugs: readonly string[]): Map<string, string> {
  const named = new Set(slugs);
  return new Map([...ids].filter(([slug]) => named.has(slug)));
}
