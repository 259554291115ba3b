/** What both sides of the device grant share: how a grant stands, and whether the person behind it may still come in. */
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import type { DeviceGrant } from '../../store/device-grants.ts';
import type { Member } from '../../store/members.ts';
import { memberRefusal, type SignInRefusal } from '../sign-in/complete.ts';

/** A grant as it stands now: one that was under way when everything in its application was ended is denied, for good. */
export function asItStands(grant: DeviceGrant, { sessionEpoch }: Application): DeviceGrant {
  const isUnderWay = grant.status === 'pending' || grant.status === 'approved';
  return isUnderWay && grant.applicationEpoch !== sessionEpoch ? { ...grant, status: 'denied' } : grant;
}

/**
 * Why a key may not be given to a member now, by lifecycle, gate and state; null when it may. Who left comes back by
 * signing in, but not by a device.
 */
export async function refusalToMember(
  unit: Unit,
  application: Application,
  { userId, status }: Member,
): Promise<SignInRefusal | null> {
  return (await memberRefusal(unit, application, userId)) ?? (status === 'active' ? null : 'membership_blocked');
}
