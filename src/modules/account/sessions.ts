/** Lists and ends a person's own sessions, within the reach of the requesting session. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { browserOf, deviceNameOf, deviceTypeOf } from '../../core/device-name.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal } from '../../core/principal.ts';
import { coversWorkspace } from '../../core/access-control.ts';
import type { Database, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { endPersonalKeys, listOpenDevices } from '../../store/api-keys.ts';
import { findApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { denyApprovedGrants } from '../../store/device-grants.ts';
import { listMembershipsWithApplication } from '../../store/memberships.ts';
import { findOpenSession, listOpenSessions } from '../../store/sessions.ts';
import { recordDevice } from '../devices/record.ts';
import { endSessions } from '../sessions/end.ts';
import type { OwnSession, SignedOutElsewhere } from './model.ts';

export type OwnSessions = ReturnType<typeof ownSessionService>;

/** A session reaches the sessions of its workspace's applications; a console session reaches all of the person's. */
export function ownSessionService({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Returns open sessions: the requesting one, then the others, newest first. */
    async list(
      principal: SessionPrincipal,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<OwnSession>> {
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const { sessionId } = principal;
      const now = clock.now();
      const [first, others] = await Promise.all([
        before === undefined ? listOpenSessions(db.reader, principal, { now, only: sessionId, limit: 1 }) : [],
        listOpenSessions(db.reader, principal, {
          now,
          except: sessionId,
          before: before || undefined,
          limit: limit + 1,
        }),
      ]);
      return pageOf(
        [...first, ...others],
        limit,
        // A page that ends with the requesting session is followed by the newest of the others.
        ({ session }) => [session.id === sessionId ? '' : session.id],
        ({ session, application }) => ({
          id: session.id,
          isCurrent: session.id === principal.sessionId,
          application,
          method: session.method,
          device: deviceNameOf(session.userAgent),
          browser: browserOf(session.userAgent),
          deviceType: deviceTypeOf(session.userAgent),
          ip: session.ip,
          ipCountry: session.ipCountry,
          createdAt: isoTime(session.createdAt),
          lastSeenAt: isoTime(session.lastSeenAt),
          expiresAt: isoTime(session.expiresAt),
        }),
      );
    },

    /** Ends one session. @throws {AppError} not_found if it is not open or belongs to another person. */
    revoke(actor: Actor, principal: SessionPrincipal, sessionId: string): Promise<{ revoked: number }> {
      return db.write(actor, async (unit) => {
        await requireOwn(unit, principal, sessionId);
        const revoked = await endSessions(unit, { sessionId }, 'revoked_by_user');
        await record(unit, principal, { revoked, targetId: sessionId });
        return { revoked };
      });
    },

    /**
     * Ends every session but the requesting one, and by default disconnects the person's devices. Idempotent.
     *
     * @param withDevices also denies approved devices that have not fetched their key.
     */
    signOutElsewhere(actor: Actor, principal: SessionPrincipal, withDevices: boolean): Promise<SignedOutElsewhere> {
      return db.write(actor, async (unit) => ({
        revoked: await endOtherSessions(unit, principal),
        devices: withDevices ? await endDevices(unit, principal) : 0,
      }));
    },
  };
}

async function endOtherSessions(unit: Unit, principal: SessionPrincipal): Promise<number> {
  const { userId, workspaceId, sessionId: exceptSessionId } = principal;
  const wanted = { now: unit.now, except: exceptSessionId, limit: 2 };
  const [other, another] = await listOpenSessions(unit, principal, wanted);
  const revoked = await endSessions(unit, { userId, workspaceId, exceptSessionId }, 'revoked_by_user');
  if (other) await record(unit, principal, { revoked, targetId: another ? null : other.session.id });
  return revoked;
}

/** Disconnects devices, at most fifty: a person cannot connect more. */
async function endDevices(unit: Unit, principal: SessionPrincipal): Promise<number> {
  const devices = await listOpenDevices(unit, principal);
  for (const { key } of devices) {
    await endPersonalKeys(unit, { keyId: key.id });
    await recordDevice(unit, 'device.revoked', key, principal.userId);
  }
  const memberships = await listMembershipsWithApplication(unit, principal.userId);
  const reached = memberships.filter(({ application }) => coversWorkspace(principal, application.workspaceId));
  await denyApprovedGrants(
    unit,
    reached.map(({ member }) => member.id),
  );
  return devices.length;
}

/** Refuses sessions out of reach; a console session reaches all of the person's. @throws {AppError} not_found */
async function requireOwn(unit: Unit, principal: SessionPrincipal, sessionId: string): Promise<void> {
  const owner = await findOpenSession(unit, { id: sessionId, now: unit.now });
  const application = owner?.userId === principal.userId ? await findApplication(unit, owner.applicationId) : undefined;
  if (!application || !coversWorkspace(principal, application.workspaceId)) throw new AppError('not_found');
}

async function record(
  unit: Unit,
  { userId, applicationId }: SessionPrincipal,
  { revoked, targetId }: { readonly revoked: number; readonly targetId: string | null },
): Promise<void> {
  await recordAudit(unit, { kind: 'session.revoked', applicationId, userId, targetId, detail: { revoked } });
}
