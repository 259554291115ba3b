/** What ends with a way to sign in that its person takes away. */
import type { SessionPrincipal } from '../../core/principal.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Unit } from '../../db/database.ts';
import { endSessions } from '../sessions/end.ts';

/** A passkey or an identity at a provider. */
export interface LostCredential {
  readonly credentialId: string;
  readonly method: SignInMethod;
}

/**
 * Ends the sessions made with it, wherever they are and whichever asks: who has stolen it has no other.
 *
 * @param isAll all others in the reach of the asking session as well.
 * @returns how many ended.
 */
export async function endWithCredential(
  unit: Unit,
  { userId, workspaceId, sessionId }: SessionPrincipal,
  credential: LostCredential,
  isAll: boolean,
): Promise<number> {
  const ended = await endSessions(unit, { userId, ...credential }, 'credential_removed');
  if (!isAll) return ended;
  return ended + (await endSessions(unit, { userId, workspaceId, exceptSessionId: sessionId }, 'revoked_by_user'));
}
