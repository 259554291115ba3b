/** Refresh tokens (RFC 6749 §6), each for one use; a refresh replaces the session's token and extends the session. */
import { onBehalfOf } from '../../core/actor.ts';
import { DAY, SECOND } from '../../core/clock.ts';
import { AppError, type ErrorCode } from '../../core/error.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Author, Database, Unit } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findMemberById } from '../../store/members.ts';
import {
  consumeRefreshToken,
  extendOAuthGrant,
  findOAuthGrant,
  findRefreshToken,
  insertRefreshToken,
  type OAuthGrant,
} from '../../store/oauth-grants.ts';
import { requireClaimsUser } from '../../store/people.ts';
import { findOpenSession, findSessionProof, rekeySession } from '../../store/sessions.ts';
import { profileIdOf } from '../../store/unproved-profiles.ts';
import { refusalToMember } from '../devices/grants.ts';
import { endSessions } from '../sessions/end.ts';
import type { Granted, TokenAnswers } from './answer.ts';
import type { OpenIdClient } from './clients.ts';
import type { TokenAnswer } from './model.ts';
import type { CountSessionCall } from './session-limit.ts';

/** People prove who they are at least this often, however often a client refreshes. */
const LONGEST_MS = 365 * DAY;

export interface RefreshDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly answer: TokenAnswers;
  readonly countCall: CountSessionCall;
}

export interface RefreshInput {
  readonly refreshToken: string;
  /** Empty for all that was granted. */
  readonly scope: string;
}

/** Refusals are returned rather than thrown, so that the token stays used. */
type Outcome = Granted | { readonly reason: ErrorCode | null };

export function tokenRefresh({ db, random, answer, countCall }: RefreshDependencies) {
  /** Ends the session when a used token comes again: it, or the token that replaced it, was stolen (RFC 9700 §4.14). */
  async function endReused(unit: Unit, { sessionId, applicationUserId }: OAuthGrant): Promise<Outcome> {
    const member = await findMemberById(unit, applicationUserId);
    if (member && (await endSessions(unit, { sessionId }, 'refresh_reused')) > 0) {
      const { id: applicationId, workspaceId } = await requireApplication(unit, member.applicationId);
      const { userId } = member;
      await recordAudit(unit, {
        kind: 'signin.refresh_reused',
        ok: false,
        applicationId,
        workspaceId,
        userId,
        targetId: sessionId,
      });
    }
    return { reason: null };
  }

  async function refreshOnce(unit: Unit, grant: OAuthGrant, tokenHash: Uint8Array): Promise<Outcome> {
    const used = await consumeRefreshToken(unit, tokenHash);
    if (!used) return endReused(unit, grant);
    const { sessionId, applicationUserId, scope } = grant;
    const open = used.expiresAt > unit.now && (await findOpenSession(unit, { id: sessionId, now: unit.now }));
    const member = open ? await findMemberById(unit, applicationUserId) : undefined;
    if (!member) return { reason: null };
    const application = await requireApplication(unit, member.applicationId);
    const reason = await refusalToMember(unit, application, member);
    if (reason !== null) return { reason };
    const session = { id: sessionId, ...required(await findSessionProof(unit, sessionId), 'an open session') };
    const provedAt = session.authenticatedAt ?? session.createdAt;
    const expiresAt = Math.min(unit.now + application.sessionTtlSeconds * SECOND, provedAt + LONGEST_MS);
    const [token, refreshToken] = [mintSecret('session', random), mintSecret('refresh', random)];
    await rekeySession(unit, { sessionId, hash: hashSecret(token), expiresAt });
    await extendOAuthGrant(unit, { sessionId, expiresAt });
    await insertRefreshToken(unit, { tokenHash: hashSecret(refreshToken), sessionId, expiresAt });
    const user = await requireClaimsUser(unit, profileIdOf(member));
    return { token, session, user, expiresAt, scope, nonce: null, refreshToken };
  }

  /** @throws {AppError} invalid_grant, for whatever reason; invalid_scope, rate_limited, which leave the token unused. */
  return async (
    author: Author,
    { headers }: Pick<RequestContext, 'headers'>,
    client: OpenIdClient,
    input: RefreshInput,
  ): Promise<TokenAnswer> => {
    const tokenHash = hashSecret(input.refreshToken);
    const known = isSecret('refresh', input.refreshToken) ? await findRefreshToken(db.reader, tokenHash) : undefined;
    const grant = known && (await findOAuthGrant(db.reader, known.sessionId));
    const member = grant && (await findMemberById(db.reader, grant.applicationUserId));
    // Another client's token stays unused: only its own client can have it replaced.
    if (!member || grant.clientId !== client.clientId) throw new AppError('invalid_grant');
    const granted = new Set(grant.scope.split(' '));
    if (!input.scope.split(' ').every((name) => name === '' || granted.has(name))) throw new AppError('invalid_scope');
    await countCall(headers, { sessionId: grant.sessionId, applicationId: member.applicationId });
    const outcome = await db.write(onBehalfOf(author, member.userId), (unit) => refreshOnce(unit, grant, tokenHash));
    if ('reason' in outcome)
      throw new AppError('invalid_grant', outcome.reason === null ? {} : { hint: outcome.reason });
    return answer(client, outcome);
  };
}
