/** Shared by both sides of the device grant: a grant's effective status, and whether its person may still sign in. */
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import type { DeviceGrant } from '../../store/device-grants.ts';
import type { Member } from '../../store/members.ts';
import { memberRefusal, type SignInRefusal } from '../sign-in/complete.ts';

/** Returns a grant, denied if everything in its application was ended while it was open. */
export function asItStands(grant: DeviceGrant, { sessionEpoch }: Application): DeviceGrant {
  const isUnderWay = grant.status === 'pending' || grant.status === 'approved';
  return isUnderWay && grant.applicationEpoch !== sessionEpoch ? { ...grant, status: 'denied' } : grant;
}

/** Returns why a member may get no key now; null if they may. A person who left must sign in again first. */
export async function refusalToMember(
  unit: Unit,
  application: Application,
  { userId, status }: Member,
): Promise<SignInRefusal | null> {
  return (await memberRefusal(unit, application, userId)) ?? (status === 'active' ? null : 'membership_blocked');
}
