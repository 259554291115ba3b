/** Decides whether a provider's claim of an e-mail address signs somebody in whose subject is not known yet. */
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { countDevices } from '../../store/api-keys.ts';
import { hasJoinedOutside } from '../../store/memberships.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { findUserByEmail, type User } from '../../store/people.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';
import { knownIn } from '../../store/reservations.ts';
import { countOpenSessions } from '../../store/sessions.ts';
import { listAddressLinks } from '../../store/address-links.ts';
import type { ProvenAddress } from '../sign-in/complete.ts';
import type { ProviderProfile } from './profile.ts';
import type { TrustedClient } from './claim-trust.ts';

export type VouchingRefusal = 'email_unverified' | 'link_required';

export type Vouched =
  | { readonly ok: true; readonly address: ProvenAddress; readonly isNew: boolean }
  | { readonly ok: false; readonly refusal: VouchingRefusal };

export interface Word {
  readonly application: Pick<Application, 'workspaceId'>;
  readonly profile: ProviderProfile;
  readonly client: TrustedClient;
  /** The subject's person from before client ids were stored; null for none. */
  readonly formerUserId: string | null;
}

/**
 * Trusts the instance's client for everyone. An application's client is trusted only for people no other workspace
 * knows, and proves nothing outside its own: see users/unproved.ts.
 */
export async function vouchedFor(unit: Unit, { application, profile, client, formerUserId }: Word): Promise<Vouched> {
  const { email, isEmailVerified } = profile;
  if (email === null || !isEmailVerified) return { ok: false, refusal: 'email_unverified' };
  const user = await findUserByEmail(unit, email);
  const isFormer = formerUserId !== null && user?.id === formerUserId;
  // Either a second account of the same person or another person's identity: only a code can tell.
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
  if (user && (await hasJoinedOutside(unit, { userId: user.id, workspaceId }))) return 'link_required';
  if (user && user.emailVerifiedAt !== null) {
    // A holder refused by a gate elsewhere has proved the address but joined nothing.
    const hasCome = (await knownIn(unit, workspaceId, [user.id])).has(user.id);
    return hasCome ? null : 'link_required';
  }
  if (await isExpectedElsewhere(unit, email, workspaceId)) return 'link_required';
  return user && !isFormer && (await hasOtherMethod(unit, user.id)) ? 'email_unverified' : null;
}

/** Returns whether another workspace invited, imported or listed the address or knows its holder. Ignores requests. */
async function isExpectedElsewhere(unit: Unit, email: string, workspaceId: string): Promise<boolean> {
  const ties = await listAddressLinks(unit, email);
  return ties.some((tie) => tie.workspaceId !== workspaceId && !tie.isRequest);
}

/** Returns whether a client is trusted for a known person; a workspace's is not if they joined another one. */
export async function isHeardAbout(
  unit: Unit,
  userId: string,
  { reach }: TrustedClient,
  { workspaceId }: Pick<Application, 'workspaceId'>,
): Promise<boolean> {
  return reach === 'everywhere' || workspaceId === null || !(await hasJoinedOutside(unit, { userId, workspaceId }));
}

/** Returns whether somebody may be signed in to the account, or could be again without the mailbox. */
async function hasOtherMethod(unit: Unit, userId: string): Promise<boolean> {
  if ((await listIdentitiesOf(unit, userId)).length > 0 || (await listPasskeysOf(unit, userId)).length > 0) return true;
  if ((await countOpenSessions(unit, { userId, workspaceId: null }, unit.now)) > 0) return true;
  return (await countDevices(unit, userId)) > 0;
}
