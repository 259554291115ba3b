/**
 * Sessions: minted at the end of a sign-in, judged live at every use, ended by sign-out. Also judges API keys, since a
 * backend may have either verified.
 */
import { and, eq, gt, isNull, type SQL } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import type { SignInMethod } from '../../core/event.ts';
import { newId } from '../../core/id.ts';
import {
  accessTo,
  type KeyPrincipal,
  type PersonPrincipal,
  type SessionPrincipal,
  type WorkspaceRole,
} from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import type { Application } from '../../db/schema/applications.ts';
import { sessions } from '../../db/schema/credentials.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import type { Credentials } from '../../http/authenticate.ts';
import { lastSeen } from './last-seen.ts';
import type { TokenRefusal } from './model.ts';
import { envelope, type KeyCredentialRow, type SessionRow, slugList, subjects } from './subject.ts';

export interface SessionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly cdnUrl: () => string;
}

/** What a person gets at the end of a sign-in; the token is in plain text here and nowhere else. */
export interface MintedSession {
  readonly token: string;
  readonly sessionId: string;
  readonly expiresAt: number;
}

export interface NewSession {
  readonly application: Pick<Application, 'id' | 'sessionTtlSeconds'>;
  readonly applicationUserId: string;
  readonly userId: string;
  readonly method: SignInMethod;
  readonly userAgent: string | null;
}

export type Verdict =
  { readonly ok: true; readonly data: Envelope } | { readonly ok: false; readonly error: TokenRefusal };

const MAX_USER_AGENT = 300;

export type Sessions = ReturnType<typeof sessionService>;

export function sessionService({ db, clock, random, cdnUrl }: SessionDependencies) {
  const find = subjects(db);
  const seen = lastSeen(db);
  const workspaceRoles = db.sqlite.prepare<WorkspaceRole, [string]>(
    'SELECT workspace_id AS workspaceId, role FROM workspace_members WHERE user_id = ? ORDER BY created_at, id',
  );
  const consoleId = db.sqlite.prepare<{ id: string }, []>('SELECT id FROM applications WHERE workspace_id IS NULL');

  /** Whoever acts in the console manages what they are a member of, as of now. */
  function consoleRights(isConsole: boolean, userId: string) {
    return { isConsole, workspaces: isConsole ? workspaceRoles.all(userId) : [] };
  }

  /** Null when the token is good for use now, which is then noted. */
  function refusalOf(row: SessionRow | KeyCredentialRow | null): TokenRefusal | null {
    if (!row) return 'invalid_token';
    const now = clock.now();
    const refusal = judge(row, now);
    if (refusal === null) {
      if (row.kind === 'session') seen.sessionSeen(row.sessionId, row.applicationUserId, row.lastSeenAt, now);
      else seen.keyUsed(row.keyId, row.lastUsedAt, now);
    }
    return refusal;
  }

  const credentials: Credentials = {
    findKey(token) {
      const row = find.keyCredential(token);
      if (refusalOf(row) !== null || !row) return null;
      const { keyId, userId, keyApplicationId: applicationId, perMinute, perDay } = row;
      if (row.source === 'device') {
        if (applicationId === null) return null;
        const isConsole = applicationId === consoleId.get()?.id;
        const rights = consoleRights(isConsole, userId);
        return { kind: 'personal_key', keyId, userId, applicationId, perMinute, perDay, ...rights };
      }
      return {
        kind: 'key',
        keyId,
        userId,
        workspaceId: row.keyWorkspaceId,
        applicationId,
        applicationIds: row.keyApplicationIds === null ? null : (JSON.parse(row.keyApplicationIds) as string[]),
        access: row.access,
        perMinute,
        perDay,
      };
    },
    findSession(token) {
      const row = find.session(token);
      const refusal = refusalOf(row);
      if (refusal !== null || !row) return refusal ?? 'invalid_token';
      return {
        kind: 'session',
        sessionId: row.sessionId,
        userId: row.userId,
        applicationId: row.applicationId,
        applicationUserId: row.applicationUserId,
        workspaceId: row.workspaceId,
        ...consoleRights(row.workspaceId === null, row.userId),
        envelope: envelope(row, cdnUrl()),
      };
    },
  };

  return {
    credentials,

    /**
     * What a backend's key may learn of a token: its own tenants' tokens only. Anything else is `invalid_token`, as if it
     * were unknown.
     */
    verify(caller: KeyPrincipal, token: string): Verdict {
      const row = token.startsWith('eak_') ? find.key(token) : find.session(token);
      if (!row || !accessTo(caller, { id: row.applicationId, workspaceId: row.workspaceId }))
        return { ok: false, error: 'invalid_token' };
      const refusal = refusalOf(row);
      return refusal === null ? { ok: true, data: envelope(row, cdnUrl()) } : { ok: false, error: refusal };
    },

    /** The identity behind a session that is in force; null when it is over. */
    envelopeOf(sessionId: string): Envelope | null {
      const row = find.sessionById(sessionId);
      return row && judge(row, clock.now()) === null ? envelope(row, cdnUrl()) : null;
    },

    /** Mints a session inside the sign-in's transaction. */
    mint(unit: Unit, { application, applicationUserId, userId, method, userAgent }: NewSession): MintedSession {
      const token = mintSecret('session', random);
      const sessionId = newId('session', unit.now);
      const expiresAt = unit.now + application.sessionTtlSeconds * 1000;
      unit.tx
        .insert(sessions)
        .values({
          id: sessionId,
          tokenHash: Buffer.from(hashSecret(token)),
          applicationUserId,
          method,
          ip: unit.actor.ip,
          ipCountry: unit.actor.ipCountry,
          userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
          lastSeenAt: unit.now,
          createdAt: unit.now,
          expiresAt,
        })
        .run();
      unit.emit({ type: 'user.signed_in', applicationId: application.id, data: { userId, sessionId, method } });
      return { token, sessionId, expiresAt };
    },

    /** Ends the caller's own session. Idempotent: a second sign-out is refused as `revoked` before it comes here. */
    signOut(principal: SessionPrincipal, actor: Actor): void {
      db.write(actor, (unit) => {
        const ended = unit.tx
          .update(sessions)
          .set({ revokedAt: unit.now, revokedReason: 'signed_out' })
          .where(and(eq(sessions.id, principal.sessionId), isNull(sessions.revokedAt)))
          .returning({ id: sessions.id })
          .all();
        if (ended.length === 0) return;
        const { userId, applicationId, sessionId } = principal;
        unit.audit({ kind: 'session.signed_out', applicationId, userId, targetId: sessionId });
        unit.emit({ type: 'user.signed_out', applicationId, data: { userId, sessionId } });
      });
    },

    /** Ends what is still open among these memberships' sessions; each ending is an event. @returns how many. */
    revokeAll(unit: Unit, whose: SQL, reason: string): number {
      const ended = unit.tx
        .update(sessions)
        .set({ revokedAt: unit.now, revokedReason: reason })
        .where(and(whose, isNull(sessions.revokedAt), gt(sessions.expiresAt, unit.now)))
        .returning({ sessionId: sessions.id, applicationUserId: sessions.applicationUserId })
        .all();
      const owners = new Map<string, { applicationId: string; userId: string }>();
      for (const { sessionId, applicationUserId } of ended) {
        const owner = owners.get(applicationUserId) ?? ownerOf(unit, applicationUserId);
        owners.set(applicationUserId, owner);
        unit.emit({
          type: 'user.session_revoked',
          applicationId: owner.applicationId,
          data: { userId: owner.userId, sessionId, reason },
        });
      }
      return ended.length;
    },

    /** @throws {AppError} not_found where the person has no active membership in that application. */
    liveSlugs(principal: PersonPrincipal, applicationId = principal.applicationId) {
      const row = find.slugs(principal.userId, applicationId);
      if (!row) throw new AppError('not_found');
      return { roles: slugList(row.roles), scopes: slugList(row.scopes), memberships: slugList(row.memberships) };
    },

    flushLastSeen: () => seen.flush(),
  };
}

function ownerOf({ tx }: Unit, applicationUserId: string): { applicationId: string; userId: string } {
  return tx
    .select({ applicationId: applicationUsers.applicationId, userId: applicationUsers.userId })
    .from(applicationUsers)
    .where(eq(applicationUsers.id, applicationUserId))
    .get()!;
}

/**
 * The contract's precedence: membership, then revoked, then expired. A revoked key counts as a blocked membership: its
 * principal is banned, except where it shares it, with a successor or with the person it belongs to.
 */
function judge(row: SessionRow | KeyCredentialRow, now: number): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null) return row.kind === 'key' ? 'membership_blocked' : 'revoked';
  if (row.expiresAt !== null && row.expiresAt <= now) return 'expired';
  if (row.kind === 'key' && row.gracePeriodEndsAt !== null && row.gracePeriodEndsAt <= now) return 'expired';
  return null;
}
