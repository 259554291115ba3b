/** Judges session tokens and API keys live at every use, for this server's calls and for backends that verify them. */
import { timingSafeEqual } from 'node:crypto';
import { isClosed } from '../../core/application-state.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import type { Cell, Metrics } from '../../core/metrics.ts';
import {
  type KeyPrincipal,
  type OAuthClient,
  type PersonPrincipal,
  type Principal,
  type SessionPrincipal,
} from '../../core/principal.ts';
import { mayIntrospect } from '../../core/access-control.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Database, Reader } from '../../db/database.ts';
import type { Credentials, DeadKey } from '../../http/authenticate.ts';
import { findApplication, findApplicationByClientId, TOKEN_REFUSALS } from '../../store/applications.ts';
import { findRetiredKeyToken } from '../../store/retired-key-tokens.ts';
import {
  findKeyCredential,
  findKeySubject,
  findLiveSlugs,
  findSessionSubject,
  findSessionSubjectById,
  type KeyCredential,
} from '../../store/verification.ts';
import { listWorkspacesOf } from '../../store/workspace-members.ts';
import { expiredCredentials } from './expired-credentials.ts';
import { firstVerified } from './first-verified.ts';
import { lastSeen } from './last-seen.ts';
import type { TokenRefusal } from './model.ts';
import { isOfPerson, type KeySubject, type SessionSubject, subjects } from './subject.ts';
import { judgeKey, judgeSession, type Verdict } from './verdict.ts';

export interface VerificationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly cdnUrl: () => string;
  readonly metrics: Metrics;
}

const OUTCOMES = ['ok', ...TOKEN_REFUSALS] as const;
type Outcome = (typeof OUTCOMES)[number];

const UNKNOWN = { ok: false, error: 'invalid_token' } as const satisfies Verdict;

const asItIs = (row: KeyCredential) => row;

/** Compared if a client is unknown or has no secret, for constant time; no secret hashes to it. */
const NO_HASH = new Uint8Array(32);

export interface Looked {
  readonly row: SessionSubject | KeySubject;
  readonly refusal: TokenRefusal | null;
}

/** A session or key whose changes a stream follows, with its holder. */
export interface Followed {
  /** The application of its membership: the console for most keys of a workspace. */
  readonly applicationId: string;
  /** The workspace whose budget the stream counts against; null for the console. */
  readonly workspaceId: string | null;
  readonly userId: string;
  readonly credentialId: string;
  /** The hash of a key's token, null for a session. The stream ends once the key has another token. */
  readonly keyHash: Uint8Array | null;
}

export type Verification = ReturnType<typeof verificationService>;

/** A ban, a sign-out or a removed role takes effect at its commit. */
export function verificationService({ db, clock, cdnUrl, metrics }: VerificationDependencies) {
  const { reader } = db;
  const seen = lastSeen(db);
  const first = firstVerified(db);
  const { ofSession, ofKey } = subjects(cdnUrl);
  const ended = expiredCredentials();
  const verdicts = metrics.counter('gatehouse_verdicts_total', 'Verified tokens, by endpoint and outcome.', {
    endpoint: ['verify', 'session', 'introspect'],
    outcome: OUTCOMES,
  });
  const cellsOf = (endpoint: string) =>
    Object.fromEntries(OUTCOMES.map((outcome) => [outcome, verdicts.cell(endpoint, outcome)])) as Record<Outcome, Cell>;
  const [verified, sessionsJudged, introspected] = [cellsOf('verify'), cellsOf('session'), cellsOf('introspect')];

  /** Returns null if the session or key is valid, and records the use. */
  function refusalOf(row: SessionSubject | KeySubject | KeyCredential): TokenRefusal | null {
    const now = clock.now();
    const refusal = judge(row, now);
    if (refusal !== null) return refusal;
    if ('sessionId' in row) seen.sessionSeen(row, now);
    else seen.keyUsed(row.keyId, row.lastUsedAt, now);
    return null;
  }

  /** Judges without recording a use. */
  function judge(row: SessionSubject | KeySubject | KeyCredential, now: number): TokenRefusal | null {
    return 'sessionId' in row
      ? unlessEnded(row.sessionId, row, judgeSession(row, now))
      : unlessEnded(row.keyId, row, judgeKey(row, now));
  }

  /** Keeps expired credentials expired when the clock goes back. */
  function unlessEnded(
    id: string,
    row: SessionSubject | KeySubject | KeyCredential,
    refusal: TokenRefusal | null,
  ): TokenRefusal | null {
    if (refusal === 'expired') ended.note(id, row);
    return refusal === null && ended.includes(id, row) ? 'expired' : refusal;
  }

  const credentials: Credentials = {
    async findKey(token, reader) {
      // The checksum refuses malformed and made-up tokens without a database lookup.
      if (!isSecret('apiKey', token)) return null;
      const hash = hashSecret(token);
      const row = await findKeyCredential(reader, hash, asItIs);
      if (!row) return replacedKey(reader, hash);
      const refusal = refusalOf(row);
      if (refusal !== null) return deadKey(row, refusal, clock.now());
      const { keyId, userId, keyApplicationId: applicationId, perMinute, perDay } = row;
      if (row.source === 'device') {
        if (applicationId === null) return null;
        const isConsole = row.isConsole;
        const workspaces = isConsole ? await listWorkspacesOf(reader, userId) : [];
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
      const row = isSecret('session', token)
        ? await findSessionSubject(reader, hashSecret(token), ofSession)
        : undefined;
      if (!row) return 'invalid_token';
      const refusal = refusalOf(row);
      if (refusal !== null) return refusal;
      const { sessionId, userId, applicationId, applicationUserId, workspaceId } = row;
      const isConsole = workspaceId === null;
      return {
        kind: 'session',
        sessionId,
        userId,
        profileId: row.profileUserId ?? userId,
        applicationId,
        applicationUserId,
        workspaceId,
        isConsole,
        // The live list of workspaces that a console user may manage.
        workspaces: isConsole ? await listWorkspacesOf(reader, userId) : [],
        identity: row.identity,
      };
    },
    async findClient(clientId, secret, reader) {
      const application = await findApplicationByClientId(reader, clientId);
      const isRight = timingSafeEqual(hashSecret(secret), application?.clientSecretHash ?? NO_HASH);
      if (!isRight || !application || application.workspaceId === null || isClosed(application)) return null;
      return { kind: 'client', applicationId: application.id, workspaceId: application.workspaceId };
    },
  };

  /**
   * Records the first verification of an application. An unknown token, or one of another application, counts for the
   * caller's application; a workspace key with several applications has none. A verified backend key is not a session
   * and does not count.
   */
  function noteVerdict(
    caller: OAuthClient,
    row: SessionSubject | KeySubject | null,
    refusal: TokenRefusal | null,
  ): void {
    if (refusal !== null) {
      const applicationId = row?.applicationId ?? onlyApplicationOf(caller);
      if (applicationId !== null) first.refused(applicationId, refusal, clock.now());
    } else if (row !== null && isOfPerson(row)) first.verified(row.applicationId, clock.now());
  }

  function find(token: string): Promise<SessionSubject | KeySubject | undefined> {
    if (isSecret('session', token)) return findSessionSubject(reader, hashSecret(token), ofSession);
    return isSecret('apiKey', token) ? findKeySubject(reader, hashSecret(token), ofKey) : Promise.resolve(undefined);
  }

  return {
    credentials,

    /** Returns the subject of any issued token; does not count as use. */
    async look(token: string): Promise<Looked | null> {
      const row = await find(token);
      return row ? { row, refusal: judge(row, clock.now()) } : null;
    },

    /** Returns a valid token's subject if the client may see it, which counts as use; else null. */
    async introspect(client: OAuthClient, token: string): Promise<SessionSubject | KeySubject | null> {
      const row = await find(token);
      const isAsked =
        row !== undefined && mayIntrospect(client, { id: row.applicationId, workspaceId: row.workspaceId });
      const refusal = isAsked ? refusalOf(row) : 'invalid_token';
      introspected[refusal ?? 'ok'].count += 1;
      noteVerdict(client, isAsked ? row : null, refusal);
      return isAsked && refusal === null ? row : null;
    },

    /** A backend's key sees only its own tenants' tokens: any other is `invalid_token`, as if unknown. */
    async verify(caller: KeyPrincipal, token: string): Promise<Verdict> {
      const row = await find(token);
      if (!row || !mayIntrospect(caller, { id: row.applicationId, workspaceId: row.workspaceId })) {
        verified.invalid_token.count += 1;
        noteVerdict(caller, null, UNKNOWN.error);
        return UNKNOWN;
      }
      const refusal = refusalOf(row);
      verified[refusal ?? 'ok'].count += 1;
      noteVerdict(caller, row, refusal);
      return refusal === null ? { ok: true, identity: row.identity } : { ok: false, error: refusal };
    },

    /** Returns the session or key of a valid token, for a stream of its changes. @throws {AppError} invalid_token */
    async followedBy(principal: Principal, token: string): Promise<Followed> {
      const { userId } = principal;
      if (principal.kind === 'session') {
        const { applicationId, workspaceId, sessionId: credentialId } = principal;
        return { applicationId, workspaceId, userId, credentialId, keyHash: null };
      }
      const keyHash = hashSecret(token);
      const row = await findKeySubject(reader, keyHash, ofKey);
      if (!row) throw new AppError('invalid_token');
      const workspaceId = principal.kind === 'key' ? principal.workspaceId : row.workspaceId;
      return { applicationId: row.applicationId, workspaceId, userId, credentialId: row.keyId, keyHash };
    },

    /** Returns the identity of a valid session or key; null once it has ended. */
    async envelopeOf({ credentialId, keyHash }: Followed): Promise<Envelope | null> {
      const row = await (keyHash === null
        ? findSessionSubjectById(reader, credentialId, ofSession)
        : findKeySubject(reader, keyHash, ofKey));
      return row && judge(row, clock.now()) === null ? row.identity.envelope : null;
    },

    /** @throws {AppError} not_found for an application out of reach or without an active membership of the person. */
    async liveSlugs(principal: PersonPrincipal, applicationId = principal.applicationId) {
      if (!(await isWithinReach(reader, principal, applicationId))) throw new AppError('not_found');
      const held = await findLiveSlugs(reader, principal.userId, applicationId);
      if (!held) throw new AppError('not_found');
      return held;
    },

    /** Counts a verdict that a session's holder asked for. @param session null if the token was refused. */
    noteSessionVerdict(outcome: Outcome, session: SessionPrincipal | null): void {
      sessionsJudged[outcome].count += 1;
      if (session !== null) first.verified(session.applicationId, clock.now());
    },

    flushLastSeen: seen.flush,
    flushAllLastSeen: seen.flushAll,
    flushFirstVerified: first.flush,
  };
}

/** Returns the caller's only application; null for a workspace key that reaches several. */
function onlyApplicationOf(caller: OAuthClient): string | null {
  if (caller.kind === 'client' || caller.applicationId !== null) return caller.applicationId;
  const [only, ...others] = caller.applicationIds ?? [];
  return others.length === 0 ? (only ?? null) : null;
}

/** Explains a token that a rotation has replaced; null if it never existed. */
async function replacedKey(reader: Reader, hash: Uint8Array): Promise<DeadKey | null> {
  const retired = await findRetiredKeyToken(reader, hash);
  const refusal = 'invalid_token';
  return retired
    ? { kind: 'dead_key', refusal, hint: 'dead_key_replaced', values: { at: isoTime(retired.retiredAt) } }
    : null;
}

/** Explains why a key is refused; its own end is named before that of its member. */
function deadKey(row: KeyCredential, refusal: TokenRefusal, now: number): DeadKey {
  const { revokedAt, expiresAt, gracePeriodEndsAt: graceEnd, endedAt, isOutdated } = row;
  const dead = { kind: 'dead_key', refusal } as const;
  if (revokedAt !== null) return { ...dead, hint: 'dead_key_revoked', values: { at: isoTime(revokedAt) } };
  if (isOutdated) return { ...dead, hint: 'dead_key_ended' };
  const [grace, expiry] = [graceEnd ?? Infinity, expiresAt ?? Infinity];
  const end = Math.min(grace, expiry);
  if (end <= now || endedAt !== null || refusal === 'expired')
    return {
      ...dead,
      hint: grace <= expiry ? 'dead_key_rotated' : 'dead_key_expired',
      values: { at: isoTime(end) },
    };
  return { ...dead, hint: 'dead_key_blocked' };
}

/** Limits sessions and personal keys to their own workspace, except those of the console. */
async function isWithinReach(reader: Reader, principal: PersonPrincipal, applicationId: string): Promise<boolean> {
  if (principal.isConsole || applicationId === principal.applicationId) return true;
  const [own, other] = [
    await findApplication(reader, principal.applicationId),
    await findApplication(reader, applicationId),
  ];
  return other !== undefined && own?.workspaceId === other.workspaceId;
}
