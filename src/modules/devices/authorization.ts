/** The device's side of the device authorization grant (RFC 8628): issues codes, answers polls, mints the key. */
import { type Actor, onBehalfOf } from '../../core/actor.ts';
import { isClosed } from '../../core/application-state.ts';
import { MINUTE, SECOND } from '../../core/clock.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import { AppError, type ErrorCode } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import { formatUserCode, mintUserCode } from '../../core/user-code.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { LimitSettings } from '../../http/limits.ts';
import { type Application, findApplicationByClientId, requireApplication } from '../../store/applications.ts';
import {
  type DeviceGrant,
  findDeviceGrantByDeviceCode,
  insertDeviceGrant,
  noteDevicePoll,
  updateDeviceGrant,
} from '../../store/device-grants.ts';
import { findMemberById, requireMemberById } from '../../store/members.ts';
import { listWorkspacesOf } from '../../store/workspace-members.ts';
import type { PersonalKeys } from './personal-keys.ts';
import { asItStands, refusalToMember } from './grants.ts';
import { defaultDaysOf, keyDaysOf, keyEnd } from './key-days.ts';
import { DEVICE_GRANT_TYPE, type DeviceCode, type DeviceCodeInput, type DeviceTokenInput } from './model.ts';

export const GRANT_LIFETIME_MS = 15 * MINUTE;
const SLOW_DOWN_SECONDS = 5;
const MAX_USER_AGENT = 300;
const UNNAMED = 'Connected device';
const MAX_DRAWS = 10;

export interface DeviceAuthorizationDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly personalKeys: PersonalKeys;
  readonly limits: LimitSettings;
  readonly baseUrl: () => string;
}

/** Refusals are returned rather than thrown, so that the changes written with them are committed. */
type Outcome = { readonly ok: true; readonly token: string } | { readonly ok: false; readonly error: ErrorCode };

const refused = (error: ErrorCode): Outcome => ({ ok: false, error });

export type DeviceAuthorization = ReturnType<typeof deviceAuthorizationService>;

/** Stores only hashes of its codes. */
export function deviceAuthorizationService(dependencies: DeviceAuthorizationDependencies) {
  const { db, random, instanceKey, personalKeys, baseUrl } = dependencies;
  const intervalSeconds = dependencies.limits.devicePollSeconds;

  /** @throws {AppError} invalid_client */
  async function clientOf(clientId: string): Promise<Application> {
    const application = await findApplicationByClientId(db.reader, clientId);
    if (!application) throw new AppError('invalid_client');
    return application;
  }

  /** Inserts the grant under an unused user code; there are 25,600,000,000. */
  async function insert(unit: Unit, grant: Omit<DeviceGrant, 'userCodeDigest'>): Promise<string> {
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const userCode = mintUserCode(random);
      const userCodeDigest = Buffer.from(instanceKey.derive('user code', userCode));
      if (await insertDeviceGrant(unit, { ...grant, userCodeDigest })) return userCode;
    }
    throw new Error('no free user code was drawn');
  }

  /** Exchanges an approved grant for its key, if the person may still sign in. */
  async function exchange(unit: Unit, grant: DeviceGrant, application: Application): Promise<Outcome> {
    const member = await requireMemberById(unit, required(grant.applicationUserId, 'approver of a device'));
    // A console key belongs to the person's first workspace; its rights are read at each call.
    const workspaceId = application.workspaceId ?? (await listWorkspacesOf(unit, member.userId))[0]?.workspaceId;
    if ((await refusalToMember(unit, application, member)) !== null || workspaceId === undefined) {
      await updateDeviceGrant(unit, grant.id, { status: 'denied' });
      return refused('access_denied');
    }
    const name = grant.deviceName ?? deviceNameOf(grant.userAgent) ?? UNNAMED;
    const expiresAt = keyEnd(unit.now, grant.keyDays, defaultDaysOf(application));
    const { id, token } = await personalKeys.mint(unit, { member, application, workspaceId, name, expiresAt });
    await updateDeviceGrant(unit, grant.id, { status: 'redeemed', apiKeyId: id });
    return { ok: true, token };
  }

  /** Records a poll; one that came too early lengthens the interval for good (RFC 8628 §3.5). */
  async function poll(unit: Unit, { id, lastPolledAt, intervalSeconds }: DeviceGrant): Promise<Outcome> {
    const isEarly = lastPolledAt !== null && unit.now < lastPolledAt + intervalSeconds * SECOND;
    // Every poll is too early from here on. Skipping the write keeps a client from causing writes by polling.
    if (isEarly && intervalSeconds * SECOND >= GRANT_LIFETIME_MS) return refused('slow_down');
    await noteDevicePoll(unit, id, intervalSeconds + (isEarly ? SLOW_DOWN_SECONDS : 0));
    return refused(isEarly ? 'slow_down' : 'authorization_pending');
  }

  return {
    /** @throws {AppError} invalid_client, unauthorized_client */
    async issue(actor: Actor, input: DeviceCodeInput, userAgent: string | null): Promise<DeviceCode> {
      const application = await clientOf(input.client_id);
      if (isClosed(application)) throw new AppError('unauthorized_client');
      const deviceCode = mintSecret('deviceCode', random);
      const userCode = await db.write(actor, (unit) =>
        insert(unit, {
          id: newId('deviceGrant', unit.now),
          applicationId: application.id,
          deviceCodeHash: Buffer.from(hashSecret(deviceCode)),
          status: 'pending',
          deviceName: input.device_name?.trim() || null,
          ip: actor.ip,
          ipCountry: actor.ipCountry,
          userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
          intervalSeconds,
          lastPolledAt: null,
          claimedSessionId: null,
          applicationUserId: null,
          apiKeyId: null,
          createdAt: unit.now,
          expiresAt: unit.now + GRANT_LIFETIME_MS,
          decidedAt: null,
          applicationEpoch: application.sessionEpoch,
          keyDays: keyDaysOf(input.key_days) ?? null,
        }),
      );
      const verificationUri = `${baseUrl()}/device`;
      return {
        device_code: deviceCode,
        user_code: formatUserCode(userCode),
        verification_uri: verificationUri,
        verification_uri_complete: `${verificationUri}?code=${formatUserCode(userCode)}`,
        expires_in: GRANT_LIFETIME_MS / SECOND,
        interval: intervalSeconds,
      };
    },

    /**
     * Exchanges a device code for its key, exactly once even under concurrent calls, with the approver as actor.
     *
     * @returns the key in plain text, which is not stored.
     * @throws {AppError} unsupported_grant_type, invalid_client, invalid_grant, expired_token, access_denied,
     * authorization_pending, slow_down
     */
    async redeem(actor: Actor, input: DeviceTokenInput): Promise<string> {
      const { device_code: deviceCode, client_id: clientId, grant_type: grantType } = input;
      // A parameter without a value counts as left out (RFC 6749 §3.1).
      if (grantType && grantType !== DEVICE_GRANT_TYPE)
        throw new AppError('unsupported_grant_type', { hint: 'device_grant_type_needed' });
      const { id: applicationId } = await clientOf(clientId);
      const codeHash = Buffer.from(hashSecret(deviceCode));
      const seen = isSecret('deviceCode', deviceCode)
        ? await findDeviceGrantByDeviceCode(db.reader, codeHash)
        : undefined;
      if (seen?.applicationId !== applicationId)
        throw new AppError('invalid_grant', { hint: 'device_code_of_another_client' });
      const { applicationUserId: approverId } = seen;
      const approver = approverId === null ? undefined : await findMemberById(db.reader, approverId);
      const device = approver ? onBehalfOf(actor, approver.userId) : actor;
      const outcome = await db.write(device, async (unit) => {
        const application = await requireApplication(unit, applicationId);
        const row = await findDeviceGrantByDeviceCode(unit, codeHash);
        // Deleted with its approver since the first read.
        if (!row) return refused('invalid_grant');
        const grant = asItStands(row, application);
        if (grant.status === 'redeemed' || grant.expiresAt <= unit.now) return refused('expired_token');
        if (grant.status === 'denied') return refused('access_denied');
        // Approved since the first read: the next poll creates the key, with the approver as actor.
        if (grant.status === 'pending' || grant.applicationUserId !== approverId) return poll(unit, grant);
        return exchange(unit, grant, application);
      });
      if (!outcome.ok) throw new AppError(outcome.error);
      return outcome.token;
    },
  };
}
