/** Codes of console clients, the command line and registered ones, are exchanged for personal keys. */
import { DAY } from '../../core/clock.ts';
import { COMMAND_LINE_CLIENT_ID } from '../../core/console.ts';
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import { endPersonalKeys, findDevice } from '../../store/api-keys.ts';
import { requireApplication } from '../../store/applications.ts';
import { requireMemberById } from '../../store/members.ts';
import { noteClientUsed } from '../../store/oauth-clients.ts';
import { noteOAuthCodeResult } from '../../store/oauth-codes.ts';
import { listWorkspacesOf } from '../../store/workspace-members.ts';
import { refusalToMember } from '../devices/grants.ts';
import { keyEnd, LOGIN_DAYS } from '../devices/key-days.ts';
import type { PersonalKeys } from '../devices/personal-keys.ts';
import { recordDevice } from '../devices/record.ts';
import type { OpenIdClient } from './clients.ts';
import type { Exchanged, UsedCode } from './exchanged.ts';

/** A client that registered itself goes this long after its last use. */
export const REGISTRATION_LIFETIME_MS = 90 * DAY;

export interface ConsoleExchange {
  readonly code: UsedCode;
  readonly client: OpenIdClient;
  /** Names the key of the command line; empty for none. */
  readonly deviceName: string;
}

/** Mints a key of the person, if they may still sign in. The person consented when the code was issued. */
export async function exchangeForKey(
  unit: Unit,
  personalKeys: PersonalKeys,
  { code, client, deviceName }: ConsoleExchange,
): Promise<Exchanged> {
  const application = await requireApplication(unit, code.applicationId);
  const member = await requireMemberById(unit, code.applicationUserId);
  const reason = await refusalToMember(unit, application, member);
  if (reason !== null) return { kind: 'refused', reason };
  const [first] = await listWorkspacesOf(unit, member.userId);
  if (!first) return { kind: 'refused', reason: 'forbidden' };
  try {
    await personalKeys.refuseFurther(unit, member.userId);
  } catch (error) {
    if (error instanceof AppError) return { kind: 'refused', reason: error.code };
    throw error;
  }
  const { workspaceId } = first;
  const expiresAt = keyEnd(unit.now, code.keyDays, keyDaysByDefault(client));
  // A registered client has the name that the person has seen.
  const name = (client.clientId === COMMAND_LINE_CLIENT_ID && deviceName) || client.name;
  const { id, token } = await personalKeys.mint(unit, { member, application, workspaceId, name, expiresAt });
  await noteOAuthCodeResult(unit, { codeHash: code.codeHash, sessionId: null, apiKeyId: id });
  await noteClientUsed(unit, { clientId: client.clientId, expiresAt: unit.now + REGISTRATION_LIFETIME_MS });
  return { kind: 'key', token };
}

/** Returns the days of a client's key where none were asked; null for a key that does not end. */
export function keyDaysByDefault({ clientId }: Pick<OpenIdClient, 'clientId'>): number | null {
  return clientId === COMMAND_LINE_CLIENT_ID ? LOGIN_DAYS : null;
}

/** Ends the key that a code was exchanged for. @returns false if it had ended before. */
export async function endKeyOfCode(unit: Unit, userId: string, keyId: string): Promise<boolean> {
  const device = await findDevice(unit, { userId, workspaceId: null }, keyId);
  if (!device || device.isOver) return false;
  await endPersonalKeys(unit, { keyId });
  await recordDevice(unit, 'device.revoked', device.key, userId);
  return true;
}
