/** Whom a provider's word on an e-mail address lets in, where the subject is not known yet. */
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { countDevices } from '../../store/api-keys.ts';
import { hasJoinedOutside } from '../../store/members.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { findUserByEmail, type User } from '../../store/people.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';
import { countOpenSessions } from '../../store/sessions.ts';
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
 * Both sides must have proved the address: else whoever registers first, here or there, gets into the other's account. An
 * application's client is heard about new people and those whom its workspace alone knows; what it says proves nothing to
 * others, so the address does not count as proved by it.
 */
export async function vouchedFor(unit: Unit, { application, profile, client, formerUserId }: Word): Promise<Vouched> {
  const { email, isEmailVerified } = profile;
  if (email === null || !isEmailVerified) return { ok: false, refusal: 'email_unverified' };
  const user = await findUserByEmail(unit, email);
  const isFormer = formerUserId !== null && user?.id === formerUserId;
  // Another account for the same person, or somebody else's identity: a code tells which.
  if (formerUserId !== null && !isFormer) return { ok: false, refusal: 'link_required' };
  const refusal = user ? await refusalOf(unit, user, { application, client, isFormer }) : null;
  if (refusal !== null) return { ok: false, refusal };
  return { ok: true, address: { email, isEmailProven: client.reach === 'everywhere' }, isNew: user === undefined };
}

async function refusalOf(
  unit: Unit,
  { id, emailVerifiedAt }: User,
  { application, client, isFormer }: Pick<Word, 'application' | 'client'> & { readonly isFormer: boolean },
): Promise<VouchingRefusal | null> {
  // Imported or invited, and nobody's account so far.
  if (emailVerifiedAt === null && !isFormer) return (await hasWayIn(unit, id)) ? 'email_unverified' : null;
  return (await isHeardAbout(unit, id, client, application)) ? null : 'link_required';
}

/** Whether a client's word reaches somebody: not where anybody else knows them, unless it is for everyone. */
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
