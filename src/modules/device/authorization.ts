/**
 * The device's side of the device authorization grant (RFC 8628): codes are issued, polled for, and exchanged once for a
 * personal key. What the person decides stands in approval.ts.
 */
import { eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isClosed } from '../../core/application-state.ts';
import { MINUTE, SECOND } from '../../core/clock.ts';
import { AppError, type ErrorCode } from '../../core/error.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import { newId } from '../../core/id.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Application } from '../../db/schema/applications.ts';
import { type DeviceGrant, deviceGrants } from '../../db/schema/devices.ts';
import type { Database, Orm, Unit } from '../../db/unit-of-work.ts';
import type { PersonalKeys } from '../api-keys/personal.ts';
import { changeGrant, memberOf, refusalToMember } from './grants.ts';
import { DEVICE_GRANT_TYPE, type DeviceCode, type DeviceCodeInput, type DeviceTokenInput } from './model.ts';
import { formatUserCode, mintUserCode } from '../../core/user-code.ts';

const LIFETIME_MS = 15 * MINUTE;
const INTERVAL_SECONDS = 5;
const SLOW_DOWN_SECONDS = 5;
const MAX_USER_AGENT = 300;
const UNNAMED = 'Connected device';
const MAX_DRAWS = 10;

export interface DeviceAuthorizationDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly personalKeys: PersonalKeys;
  readonly findApplication: (id: string) => Application | undefined;
  readonly findApplicationByClientId: (clientId: string) => Application | undefined;
  readonly baseUrl: () => string;
}

/** A refusal that must not undo what was written with it is an outcome, not an exception. */
type Outcome = { readonly ok: true; readonly token: string } | { readonly ok: false; readonly error: ErrorCode };

const refused = (error: ErrorCode): Outcome => ({ ok: false, error });

export type DeviceAuthorization = ReturnType<typeof deviceAuthorizationService>;

export function deviceAuthorizationService(dependencies: DeviceAuthorizationDependencies) {
  const { db, random, instanceKey, personalKeys, findApplication, findApplicationByClientId, baseUrl } = dependencies;

  /** @throws {AppError} invalid_client */
  function clientOf(clientId: string): Application {
    const application = findApplicationByClientId(clientId);
    if (!application) throw new AppError('invalid_client');
    return application;
  }

  /** Inserts the grant under a user code that no other has; drawing one twice is as likely as 1 in 25,600,000,000. */
  function insert(unit: Unit, grant: Omit<DeviceGrant, 'userCodeDigest'>): string {
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const userCode = mintUserCode(random);
      const userCodeDigest = Buffer.from(instanceKey.derive('user code', userCode));
      const inserted = unit.tx
        .insert(deviceGrants)
        .values({ ...grant, userCodeDigest })
        .onConflictDoNothing({ target: deviceGrants.userCodeDigest })
        .returning({ id: deviceGrants.id })
        .all();
      if (inserted.length > 0) return userCode;
    }
    throw new Error('no free user code was drawn');
  }

  /** Exchanges an approved grant for its key, if the person may still come in. */
  function exchange(unit: Unit, grant: DeviceGrant, application: Application): Outcome {
    const member = memberOf(unit, grant.applicationUserId!);
    const workspaceId = application.workspaceId ?? personalKeys.firstWorkspaceOf(unit, member.userId);
    if (refusalToMember(unit, application, member) !== null || workspaceId === null) {
      changeGrant(unit, grant.id, { status: 'denied' });
      return refused('access_denied');
    }
    const name = grant.deviceName ?? deviceNameOf(grant.userAgent) ?? UNNAMED;
    const { id, token } = personalKeys.mint(unit, { member, application, workspaceId, name });
    changeGrant(unit, grant.id, { status: 'redeemed', apiKeyId: id });
    return { ok: true, token };
  }

  /** Notes a poll, and answers one that came too early by a longer interval for good (RFC 8628 §3.5). */
  function poll(unit: Unit, { id, lastPolledAt, intervalSeconds }: DeviceGrant): Outcome {
    const isEarly = lastPolledAt !== null && unit.now < lastPolledAt + intervalSeconds * SECOND;
    // By now every poll is too early until the end; whoever goes on asking does not make us write.
    if (isEarly && intervalSeconds * SECOND >= LIFETIME_MS) return refused('slow_down');
    changeGrant(unit, id, {
      lastPolledAt: unit.now,
      ...(isEarly && { intervalSeconds: intervalSeconds + SLOW_DOWN_SECONDS }),
    });
    return refused(isEarly ? 'slow_down' : 'authorization_pending');
  }

  return {
    /** @throws {AppError} invalid_client, unauthorized_client */
    issue(actor: Actor, input: DeviceCodeInput, userAgent: string | null): DeviceCode {
      const application = clientOf(input.client_id);
      if (isClosed(application)) throw new AppError('unauthorized_client');
      const deviceCode = mintSecret('deviceCode', random);
      const userCode = db.write(actor, (unit) =>
        insert(unit, {
          id: newId('deviceGrant', unit.now),
          applicationId: application.id,
          deviceCodeHash: Buffer.from(hashSecret(deviceCode)),
          status: 'pending',
          deviceName: input.device_name?.trim() || null,
          ip: actor.ip,
          ipCountry: actor.ipCountry,
          userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
          intervalSeconds: INTERVAL_SECONDS,
          lastPolledAt: null,
          claimedSessionId: null,
          applicationUserId: null,
          apiKeyId: null,
          createdAt: unit.now,
          expiresAt: unit.now + LIFETIME_MS,
          decidedAt: null,
        }),
      );
      const verificationUri = `${baseUrl()}/device`;
      return {
        device_code: deviceCode,
        user_code: formatUserCode(userCode),
        verification_uri: verificationUri,
        verification_uri_complete: `${verificationUri}?code=${formatUserCode(userCode)}`,
        expires_in: LIFETIME_MS / SECOND,
        interval: INTERVAL_SECONDS,
      };
    },

    /**
     * Exchanges a device code for its key, exactly once however many ask at the same time. The key is made as the
     * approver's doing, since the device itself is nobody.
     *
     * @returns the key in plain text, here and nowhere else.
     * @throws {AppError} unsupported_grant_type, invalid_client, invalid_grant, expired_token, access_denied,
     * authorization_pending, slow_down
     */
    redeem(actor: Actor, { device_code: deviceCode, client_id: clientId, grant_type: grantType }: DeviceTokenInput) {
      // A parameter without a value counts as left out (RFC 6749 §3.1).
      if (grantType && grantType !== DEVICE_GRANT_TYPE) throw new AppError('unsupported_grant_type');
      const { id: applicationId } = clientOf(clientId);
      const seen = isSecret('deviceCode', deviceCode) ? findByDeviceCode(db.orm, deviceCode) : undefined;
      if (seen?.applicationId !== applicationId) throw new AppError('invalid_grant');
      const approver = seen.applicationUserId === null ? null : memberOf({ tx: db.orm }, seen.applicationUserId);
      const device: Actor = approver ? { ...actor, type: 'user', userId: approver.userId } : actor;
      const outcome = db.write(device, (unit) => {
        const grant = findByDeviceCode(unit.tx, deviceCode)!;
        if (grant.status === 'redeemed' || grant.expiresAt <= unit.now) return refused('expired_token');
        if (grant.status === 'denied') return refused('access_denied');
        if (grant.status === 'pending') return poll(unit, grant);
        return exchange(unit, grant, findApplication(applicationId)!);
      });
      if (!outcome.ok) throw new AppError(outcome.error);
      return outcome.token;
    },
  };
}

function findByDeviceCode(orm: Orm, deviceCode: string): DeviceGrant | undefined {
  return orm
    .select()
    .from(deviceGrants)
    .where(eq(deviceGrants.deviceCodeHash, Buffer.from(hashSecret(deviceCode))))
    .get();
}
