/** Ends access that needs no new sign-in: sessions, connected devices and approved device grants. */
import type { Unit } from '../../db/database.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import { listMembershipsOf } from '../../store/memberships.ts';
import { endSessions } from '../sessions/end.ts';

export interface EndingAccess {
  readonly userId: string;
  readonly exceptSessionId?: string;
}

/** Ends access in all applications. An approved device that has not fetched its key yet gets none. */
export async function endAccess(unit: Unit, whose: EndingAccess, reason: string): Promise<void> {
  const memberIds = (await listMembershipsOf(unit, whose.userId)).map(({ id }) => id);
  await endSessions(unit, whose, reason);
  await endPersonalKeys(unit, { memberIds });
  await denyApprovedGrants(unit, memberIds);
}
