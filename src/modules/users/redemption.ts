/** Gives people what a workspace has reserved for them when they first sign in there. */
import { displayName } from '../../core/display-name.ts';
import { filledMetadata, isTooLarge } from '../../core/metadata.ts';
import type { Unit } from '../../db/database.ts';
import { ALL_KINDS, findGrantIds, heldSlugs } from '../../store/grants.ts';
import { insertLanguages, listLanguages } from '../../store/languages.ts';
import { findMember, KEPT_OUT, type Member, updateMember } from '../../store/members.ts';
import { updateUser, type User } from '../../store/people.ts';
import {
  deleteReservation,
  listReservationsIn,
  redeemReservation,
  type ReservedProfile,
  acceptInvitations,
} from '../../store/reservations.ts';
import { addGrants } from '../grants/holders.ts';
import { publishProfileChange } from './publish.ts';
import { differenceOf, filled, profileOf } from './fill-profile.ts';

/**
 * Redeems all reservations in the change of a person's first sign-in to a workspace. Grants, usernames and statuses
 * stay as they are; imported profiles fill blanks. Notifies applications that see another profile than before.
 *
 * @param workspaceId null for the console, where invitations to workspaces wait.
 * @param isNew whether this change created the person, so that only their address can have reservations.
 * @returns whether there was anything to redeem; always true for the console.
 */
export async function redeemReservations(
  unit: Unit,
  workspaceId: string | null,
  user: User,
  isNew = false,
): Promise<boolean> {
  if (workspaceId === null) {
    await acceptInvitations(unit, user);
    return true;
  }
  const { id, email } = user;
  const reservations = await listReservationsIn(unit, workspaceId, { id: isNew ? null : id, email });
  if (reservations.length === 0) return false;
  unit.requireSerializable();
  const before = profileOf(user, await listLanguages(unit, user.id));
  const shown = new Map<string, ReservedProfile>();
  let after = before;
  for (const reservation of reservations) {
    const { id, reservedProfile } = reservation;
    const isRedeemed = await redeem(unit, reservation, user.id);
    if (!isRedeemed || !reservedProfile) continue;
    after = filled(after, reservedProfile);
    shown.set(id, reservedProfile);
  }
  const { languages, ...identity } = after;
  const { categories } = differenceOf(before, after);
  if (categories.includes('identity')) await updateUser(unit, user.id, identity);
  if (categories.includes('languages')) await insertLanguages(unit, user.id, languages);
  const name = displayName({ ...identity, name: user.name });
  await publishProfileChange(unit, user.id, ({ id }) => ({ name, ...differenceOf(shown.get(id) ?? before, after) }));
  return true;
}

/**
 * Moves a reservation under another id, or only its grants to a member. A banned or deleted reservation still blocks its address.
 *
 * @returns whether it is redeemed.
 */
async function redeem(unit: Unit, reservation: Member, userId: string): Promise<boolean> {
  const { id, applicationId, status } = reservation;
  const own = reservation.userId === userId ? undefined : await findMember(unit, applicationId, userId);
  if (!own) {
    await redeemReservation(unit, { memberId: id, userId });
    return true;
  }
  if (KEPT_OUT.includes(status)) return false;
  for (const kind of ALL_KINDS) {
    const waiting = await findGrantIds(unit, kind, applicationId, await heldSlugs(unit, kind, id));
    await addGrants(unit, kind, own, await heldSlugs(unit, kind, own.id), waiting);
  }
  await deleteReservation(unit, id);
  await inheritAttributes(unit, own, reservation);
  return true;
}

/** The member's own values stay. The reservation is deleted before, since an external id is unique. */
async function inheritAttributes(unit: Unit, own: Member, { externalId, metadata }: Member): Promise<void> {
  const filled = metadata === null ? own.metadata : filledMetadata(own.metadata, metadata);
  await updateMember(unit, own.id, {
    externalId: own.externalId ?? externalId,
    // Together they may be too large.
    metadata: filled !== null && isTooLarge(filled) ? own.metadata : filled,
  });
}
