/**
 * Sessions: minted at the end of a sign-in, judged live at every use, ended by sign-out. Also judges API keys, since a
 * backend may have either verified.
 */
import type { Actor } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import type { SignInMethod } from '../../core/event.ts';
import { newId } from '../../core/id.ts';
import { accessTo, type KeyPrincipal, type PersonPrincipal, type SessionPrincipal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Database, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Credentials } from '../../http/authenticate.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findOpenSession, insertSession, revokeSessionRow } from '../../store/sessions.ts';
import {
  findKeyCredential,
  findKeySubject,
  findLiveSlugs,
  findSessionSubject,
  findSessionSubjectById,
  type KeyCredential,
  type KeySubject,
  type SessionSubject,
} from '../../store/verification.ts';
import { listSeatsOf } from '../../store/workspace-members.ts';
import { lastSeen } from './last-seen.ts';
import type { TokenRefusal } from './model.ts';
import { envelope, judgeKey, judgeSession, liveSlugs } from './subject.ts';

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
const UNKNOWN: Verdict = { ok: false, error: 'invalid_token' };

export type Sessions = ReturnType<typeof sessionService>;

export function sessionService({ db, clock, random, cdnUrl }: SessionDependencies) {
  const { reader } = db;
  const seen = lastSeen(db);

  /** Null when the session or key is good for use now, which is then noted. */
  function refusalOf(row: SessionSubject | KeySubject | KeyCredential): TokenRefusal | null {
    const now = clock.now();
    if ('sessionId' in row) {
      const refusal = judgeSession(row, now);
      if (refusal === null) seen.sessionSeen(row.sessionId, row.applicationUserId, row.lastSeenAt, now);
      return refusal;
    }
    const refusal = judgeKey(row, now);
    if (refusal === null) seen.keyUsed(row.keyId, row.lastUsedAt, now);
    return refusal;
  }

  const credentials: Credentials = {
    async findKey(token, reader) {
      // A malformed or made-up token is refused by its checksum, before any look-up.
      const row = isSecret('apiKey', token) ? await findKeyCredential(reader, hashSecret(token)) : undefined;
      if (!row || refusalOf(row) !== null) return null;
      const { keyId, userId, keyApplicationId: applicationId, perMinute, perDay } = row;
      if (row.source === 'device') {
        if (applicationId === null) return null;
        const isConsole = row.isConsole === 1;
        const workspaces = isConsole ? await listSeatsOf(reader, userId) : [];
        return { kind: 'personal_key', keyId, userId, applicationId, perMinute, perDay, isConsole, workspaces };
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
    async findSession(token, reader) {
      const row = isSecret('session', token) ? await findSessionSubject(reader, hashSecret(token)) : undefined;
      if (!row) return 'invalid_token';
      const refusal = refusalOf(row);
      if (refusal !== null) return refusal;
      const { sessionId, userId, applicationId, applicationUserId, workspaceId } = row;
      const isConsole = workspaceId === null;
      return {
        kind: 'session',
        sessionId,
        userId,
        applicationId,
        applicationUserId,
        workspaceId,
        isConsole,
        // Whoever acts in the console manages what they are a member of, as of now.
        workspaces: isConsole ? await listSeatsOf(reader, userId) : [],
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
    async verify(caller: KeyPrincipal, token: string): Promise<Verdict> {
      const isSession = isSecret('session', token);
      if (!isSession && !isSecret('apiKey', token)) return UNKNOWN;
      const hash = hashSecret(token);
      const row = isSession ? await findSessionSubject(reader, hash) : await findKeySubject(reader, hash);
      if (!row || !accessTo(caller, { id: row.applicationId, workspaceId: row.workspaceId })) return UNKNOWN;
      const refusal = refusalOf(row);
      return refusal === null ? { ok: true, data: envelope(row, cdnUrl()) } : { ok: false, error: refusal };
    },

    /** The identity behind a session that is in force; null when it is over. */
    async envelopeOf(sessionId: string): Promise<Envelope | null> {
      const row = await findSessionSubjectById(reader, sessionId);
      return row && judgeSession(row, clock.now()) === null ? envelope(row, cdnUrl()) : null;
    },

    /** Mints a session in the sign-in's change. */
    async mint(unit: Unit, session: NewSession): Promise<MintedSession> {
      const { application, applicationUserId, userId, method, userAgent } = session;
      const token = mintSecret('session', random);
      const sessionId = newId('session', unit.now);
      const expiresAt = unit.now + application.sessionTtlSeconds * 1000;
      await insertSession(unit, {
        id: sessionId,
        tokenHash: hashSecret(token),
        memberId: applicationUserId,
        method,
        userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
        expiresAt,
      });
      await emit(unit, {
        type: 'user.signed_in',
        applicationId: application.id,
        data: { userId, sessionId, method },
      });
      return { token, sessionId, expiresAt };
    },

    /** Ends the caller's own session. Idempotent: a second sign-out is refused as `revoked` before it comes here. */
    signOut({ userId, applicationId, sessionId }: SessionPrincipal, actor: Actor): Promise<void> {
      return db.write(actor, async (unit) => {
        if (!(await findOpenSession(unit, sessionId, unit.now))) return;
        await revokeSessionRow(unit, sessionId, { at: unit.now, reason: 'signed_out' });
        await recordAudit(unit, { kind: 'session.signed_out', applicationId, userId, targetId: sessionId });
        await emit(unit, { type: 'user.signed_out', applicationId, data: { userId, sessionId } });
      });
    },

    /** @throws {AppError} not_found where the person has no active membership in that application. */
    async liveSlugs(principal: PersonPrincipal, applicationId = principal.applicationId) {
      const held = await findLiveSlugs(reader, principal.userId, applicationId);
      if (!held) throw new AppError('not_found');
      return liveSlugs(held);
    },

    flushLastSeen: seen.flush,
  };
}
