/** What both sides of the device grant share: changing a grant, and whether the person behind it may still come in. */
import { and, eq, gt, inArray } from 'drizzle-orm';
import type { Application } from '../../db/schema/applications.ts';
import { type DeviceGrant, deviceGrants } from '../../db/schema/devices.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Unit } from '../../db/unit-of-work.ts';
import { memberRefusal, type SignInRefusal } from '../sign-in/complete.ts';
import type { ApplicationUser } from '../users/members.ts';

export function changeGrant({ tx }: Unit, id: string, columns: Partial<DeviceGrant>): void {
  tx.update(deviceGrants).set(columns).where(eq(deviceGrants.id, id)).run();
}

/** A membership by its own id. */
export function memberOf({ tx }: Pick<Unit, 'tx'>, applicationUserId: string): ApplicationUser {
  return tx.select().from(applicationUsers).where(eq(applicationUsers.id, applicationUserId)).get()!;
}

/**
 * Why a key may not be given to a member now, by lifecycle, gate and state; null when it may. Who left comes back by
 * signing in, but not by a device.
 */
export function refusalToMember(
  unit: Unit,
  application: Application,
  { userId, status }: ApplicationUser,
): SignInRefusal | null {
  return memberRefusal(unit, application, userId) ?? (status === 'active' ? null : 'membership_blocked');
}

/** Ends what is under way in an application, decided or not: no key comes of it any more. */
export function dropDeviceGrants({ tx, now }: Unit, applicationId: string): void {
  tx.update(deviceGrants)
    .set({ status: 'denied', decidedAt: now })
    .where(
      and(
        eq(deviceGrants.applicationId, applicationId),
        inArray(deviceGrants.status, ['pending', 'approved']),
        gt(deviceGrants.expiresAt, now),
      ),
    )
    .run();
}

/** What is left of the grants that these memberships decided on, for a person who is gone. */
export function forgetDeviceGrants({ tx }: Unit, applicationUserIds: readonly string[]): void {
  tx.delete(deviceGrants)
    .where(inArray(deviceGrants.applicationUserId, [...applicationUserIds]))
    .run();
}
