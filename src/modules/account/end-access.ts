/** Ends what a person's account can be used by without signing in again: sessions, connected devices, those let in just now. */
import type { Unit } from '../../db/database.ts';
import { endPersonalKeys } from '../../store/api-keys.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import { listMembershipsOf } from '../../store/members.ts';
import { endSessions } from '../sessions/end.ts';

/** Whose access ends, and the one session that goes on. */
export interface EndingAccess {
  readonly userId: string;
  readonly exceptSessionId?: string;
}

/** Everywhere. A device that was let in and has not come for its key yet gets none. */
export async function endAccess(unit: Unit, whose: EndingAccess, reason: string): Promise<void> {
  const memberIds = (await listMembershipsOf(unit, whose.userId)).map(({ id }) => id);
  await endSessions(unit, whose, reason);
  await endPersonalKeys(unit, { memberIds });
  await denyApprovedGrants(unit, memberIds);
}
