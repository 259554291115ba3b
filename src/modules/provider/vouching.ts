/** Whom a provider's word on an e-mail address lets in, where the subject is not known yet. */
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { countDevices } from '../../store/api-keys.ts';
import { hasJoinedOutside } from '../../store/members.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { findUserByEmail, type User } from '../../store/people.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';
import { knownIn } from '../../store/reservations.ts';
import { countOpenSessions } from '../../store/sessions.ts';
import { listTies } from '../../store/ties.ts';
import type { ProvenAddress } from '../sign-in/complete.ts';
import type { ProviderProfile } from './profile.ts';
import type { HeardClient } from './reach.ts';

/** Why a provider's word is not enough. */
export type VouchingRefusal = 'email_unverified' | 'link_required';

/** Somebody new, or known by the address; or why neither. */
export type Vouched =
  | { readonly ok: true; readonly address: ProvenAddress; readonly isNew: boolean }
  | { readonly ok: false; readonly refusal: VouchingRefusal };

/** A provider's word, and where it is given. */
export interface Word {
  readonly application: Pick<Application, 'workspaceId'>;
  readonly profile: ProviderProfile;
  readonly client: HeardClient;
  /** Whom the subject stood for before clients were kept; null for nobody. */
  readonly formerUserId: string | null;
}

/**
 * Judges a provider's claim about an address. The instance's provider proves it for everyone. An application's client speaks
 * only about people whom no other workspace knows, and proves nothing outside its own: see users/unproved.ts.
 */
export async function vouchedFor(unit: Unit, { application, profile, client, formerUserId }: Word): Promise<Vouched> {
  const { email, isEmailVerified } = profile;
  if (email === null || !isEmailVerified) return { ok: false, refusal: 'email_unverified' };
  const user = await findUserByEmail(unit, email);
  const isFormer = formerUserId !== null && user?.id === formerUserId;
  // Another account for the same person, or somebody else's identity: a code tells which.
  if (formerUserId !== null && !isFormer) return { ok: false, refusal: 'link_required' };
  const address = { email, isEmailProven: client.reach === 'everywhere' };
  const refusal = address.isEmailProven ? null : await refusalOf(unit, email, user, { application, isFormer });
  if (refusal !== null) return { ok: false, refusal };
  return { ok: true, address, isNew: user === undefined };
}

async function refusalOf(
  unit: Unit,
  email: string,
  user: User | undefined,
  { application: { workspaceId }, isFormer }: Pick<Word, 'application'> & { readonly isFormer: boolean },
): Promise<VouchingRefusal | null> {
  if (workspaceId === null) return null;
  if (user && (await hasJoinedOutside(unit, user.id, workspaceId))) return 'link_required';
  if (user && user.emailVerifiedAt !== null) {
    // A holder whom a gate refused elsewhere has proved the address and joined nothing.
    const hasCome = (await knownIn(unit, workspaceId, [user.id])).has(user.id);
    return hasCome ? null : 'link_required';
  }
  if (await isExpectedElsewhere(unit, email, workspaceId)) return 'link_required';
  return user && !isFormer && (await hasWayIn(unit, user.id)) ? 'email_unverified' : null;
}

/** Whether another workspace has invited, imported or listed the address, or knows its holder. Open requests do not count. */
async function isExpectedElsewhere(unit: Unit, email: string, workspaceId: string): Promise<boolean> {
  const ties = await listTies(unit, email);
  return ties.some((tie) => tie.workspaceId !== workspaceId && !tie.isRequest);
}

/** Whether a client's word reaches a known person: not where they have joined elsewhere, unless it is for everyone. */
export async function isHeardAbout(
  unit: Unit,
  userId: string,
  { reach }: HeardClient,
  { workspaceId }: Pick<Application, 'workspaceId'>,
): Promise<boolean> {
  return reach === 'everywhere' || workspaceId === null || !(await hasJoinedOutside(unit, userId, workspaceId));
}

/** Whether anybody could be in the account, or come back to it without the mailbox. */
async function hasWayIn(unit: Unit, userId: string): Promise<boolean> {
  if ((await listIdentitiesOf(unit, userId)).length > 0 || (await listPasskeysOf(unit, userId)).length > 0) return true;
  if ((await countOpenSessions(unit, { userId, workspaceId: null }, unit.now)) > 0) return true;
  return (await countDevices(unit, userId)) > 0;
}
