/** Part of an import, carried out in one change: what its rows need is read at once, then they are done one by one. */
import type { Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
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
import { insertLanguages, listLanguagesOf } from '../../store/languages.ts';
import { findMembersOf, findUsernameHolders, type Member, updateMember } from '../../store/members.ts';
import { findAliasHolders, findUsersByEmail, insertPerson, updateUser, type User } from '../../store/people.ts';
import { addGrants } from '../grants/holders.ts';
import { announceProfile } from '../users/announce.ts';
import { joinMember } from '../users/members.ts';
import type { ImportResult, ImportOutcome } from './model.ts';
import type { CleanProfile, CleanRow } from './rows.ts';

export interface ImportedChunk {
  /** An outcome for each row, in their order. */
  readonly results: ImportResult['results'];
  /** Slugs in the rows that do not exist, by kind. */
  readonly unknownSlugs: Record<GrantKind, string[]>;
}

type RowResult = ImportResult['results'][number];

/** What the rows need to know. It follows what they do, so that a row sees those before it. */
interface Known {
  readonly defaults: GrantIds;
  /** Ids of the slugs that exist, by kind. */
  readonly grantIds: Record<GrantKind, ReadonlyMap<string, string>>;
  /** By address. */
  readonly users: Map<string, User>;
  /** By address. */
  readonly aliases: ReadonlyMap<string, string>;
  /** By user. */
  readonly members: Map<string, Member>;
  /** Whose a username is. */
  readonly usernames: Map<string, string>;
  /** By membership. */
  readonly held: Map<string, HeldGrants>;
  /** Who has given a language. */
  readonly speakers: Set<string>;
}

/** Adds and fills blanks; never removes or overwrites. What is there is read in a constant number of statements. */
export async function importChunk(
  unit: Unit,
  applicationId: string,
  rows: readonly CleanRow[],
): Promise<ImportedChunk> {
  const known = await readKnown(unit, applicationId, rows);
  const results: RowResult[] = [];
  for (const row of rows) results.push(await importRow(unit, applicationId, known, row));
  const unknownOf = (kind: GrantKind) => slugsIn(rows, kind).filter((slug) => !known.grantIds[kind].has(slug));
  return {
    results,
    unknownSlugs: { roles: unknownOf('roles'), scopes: unknownOf('scopes'), memberships: unknownOf('memberships') },
  };
}

async function readKnown(unit: Unit, applicationId: string, rows: readonly CleanRow[]): Promise<Known> {
  const sound = rows.flatMap(({ email, profile }) => ('error' in profile ? [] : [{ email, profile }]));
  const emails = [...new Set(sound.map(({ email }) => email))];
  const users = await findUsersByEmail(unit, emails);
  const userIds = [...users.values()].map(({ id }) => id);
  const members = await findMembersOf(unit, applicationId, userIds);
  const memberIds = [...members.values()].map(({ id }) => id);
  const names = sound.flatMap(({ profile: { username } }) => (username === null ? [] : [username]));
  const idsOf = (kind: GrantKind) => findGrantIds(unit, kind, applicationId, slugsIn(rows, kind));
  return {
    defaults: await defaultGrants(unit, applicationId),
    grantIds: { roles: await idsOf('roles'), scopes: await idsOf('scopes'), memberships: await idsOf('memberships') },
    users,
    aliases: await findAliasHolders(unit, emails),
    members,
    usernames: await findUsernameHolders(unit, applicationId, names),
    held: await heldGrantsOf(unit, memberIds),
    speakers: new Set((await listLanguagesOf(unit, userIds)).keys()),
  };
}

function slugsIn(rows: readonly CleanRow[], kind: GrantKind): string[] {
  return [...new Set(rows.flatMap(({ slugs }) => slugs[kind]))];
}

async function importRow(
  unit: Unit,
  applicationId: string,
  known: Known,
  { email, profile, slugs }: CleanRow,
): Promise<RowResult> {
  const skip = (error: string, userId: string | null = null) => ({ email, outcome: 'skipped', userId, error }) as const;
  if ('error' in profile) return skip(profile.error);
  const user = known.users.get(email);
  if (!user && known.aliases.has(email)) return skip('email_archived');
  const member = user && known.members.get(user.id);
  if (user && (user.deletedAt !== null || member?.status === 'deleted')) return skip('user_deleted', user.id);
  // A user who has a name keeps it, so only a blank one can collide.
  const wantedName = member?.username == null ? profile.username : null;
  const nameHolder = wantedName === null ? undefined : known.usernames.get(wantedName);
  if (nameHolder !== undefined && nameHolder !== user?.id)
    return skip(`username_taken:${wantedName}`, user?.id ?? null);

  const person = user ?? (await insertPerson(unit, email, false, profile));
  known.users.set(email, person);
  if (user) await fillProfile(unit, known, user, profile);
  else await fillLanguages(unit, known, person, profile);
  if (wantedName !== null) known.usernames.set(wantedName, person.id);
  if (member) {
    if (wantedName !== null) await claimUsername(unit, known, member, wantedName);
    await addNamedGrants(unit, known, member, slugs);
  } else {
    const grants = joiningGrants(known, slugs);
    known.members.set(person.id, await joinMember(unit, applicationId, person.id, grants, wantedName));
  }
  const outcome: ImportOutcome = !user ? 'created' : member ? 'already_member' : 'linked';
  return { email, outcome, userId: person.id };
}

/** Fills what is blank in the profile of somebody who was there before, leaves the rest, and tells what it filled. */
async function fillProfile(unit: Unit, known: Known, user: User, profile: CleanProfile): Promise<void> {
  const fields = ['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;
  const blanks = fields.filter((field) => user[field] === null && profile[field] !== null);
  if (blanks.length > 0) {
    const columns = Object.fromEntries(blanks.map((field) => [field, profile[field]]));
    known.users.set(user.email, await updateUser(unit, user.id, columns));
  }
  const hasNewLanguages = await fillLanguages(unit, known, user, profile);
  const categories = [
    ...(blanks.length > 0 ? ['identity' as const] : []),
    ...(hasNewLanguages ? ['languages' as const] : []),
  ];
  await announceProfile(unit, user.id, categories, blanks);
}

/** Only where the person has given none at all. @returns whether it did. */
async function fillLanguages(
  unit: Unit,
  { speakers }: Known,
  user: User,
  { languages }: CleanProfile,
): Promise<boolean> {
  if (languages.length === 0 || speakers.has(user.id)) return false;
  await insertLanguages(unit, user.id, languages);
  speakers.add(user.id);
  return true;
}

/** Gives a member who has none a username. */
async function claimUsername(unit: Unit, { members }: Known, member: Member, username: string): Promise<void> {
  const { id, applicationId, userId } = member;
  await updateMember(unit, id, { username });
  members.set(userId, { ...member, username });
  await emit(unit, {
    type: 'user.username_changed',
    applicationId,
    data: { userId, username, previousUsername: null },
  });
}

async function addNamedGrants(unit: Unit, known: Known, member: Member, slugs: CleanRow['slugs']): Promise<void> {
  if (ALL_KINDS.every((kind) => slugs[kind].length === 0)) return;
  // Who has joined in this chunk was not there when it was read.
  const held = known.held.get(member.id) ?? (await heldGrants(unit, member.id));
  for (const kind of ALL_KINDS)
    held[kind] = await addGrants(unit, kind, member, held[kind], pick(known.grantIds[kind], slugs[kind]));
  known.held.set(member.id, held);
}

/** What a new member gets: the application's defaults and what the row names. */
function joiningGrants({ defaults, grantIds }: Known, slugs: CleanRow['slugs']): GrantIds {
  const idsOf = (kind: GrantKind) => [...new Set([...defaults[kind], ...pick(grantIds[kind], slugs[kind]).values()])];
  return { roles: idsOf('roles'), scopes: idsOf('scopes'), memberships: idsOf('memberships') };
}

/** Those among the slugs that exist, with their ids. */
function pick(ids: ReadonlyMap<string, string>, slugs: readonly string[]): Map<string, string> {
  const named = new Set(slugs);
  return new Map([...ids].filter(([slug]) => named.has(slug)));
}
