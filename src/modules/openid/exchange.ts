/** Exchanges authorization codes (RFC 6749 §4.1.3, RFC 7636): an application's for a session, a console client's for a key. */
import { createHash } from 'node:crypto';
import { onBehalfOf } from '../../core/actor.ts';
import { SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { equalDigests } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import { SIGNIN_METHODS } from '../../core/sign-in-methods.ts';
import type { Author, Database, Unit } from '../../db/database.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { consumeOAuthCode, findOAuthCode, type FoundCode, noteOAuthCodeResult } from '../../store/oauth-codes.ts';
import { insertOAuthGrant, insertRefreshToken } from '../../store/oauth-grants.ts';
import { findContinuedSession } from '../../store/page-sessions.ts';
import { requireClaimsUser } from '../../store/people.ts';
import { isSessionLive } from '../../store/sessions.ts';
import type { PersonalKeys } from '../devices/personal-keys.ts';
import { endSessions } from '../sessions/end.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn } from '../sign-in/complete.ts';
import { hasScope, type TokenAnswers } from './answer.ts';
import type { OpenIdClient } from './clients.ts';
import { endKeyOfCode, exchangeForKey } from './console-exchange.ts';
import type { Exchanged, UsedCode } from './exchanged.ts';
import type { TokenAnswer } from './model.ts';

export interface CodeExchangeDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly sessions: Sessions;
  readonly personalKeys: PersonalKeys;
  readonly answer: TokenAnswers;
}

export interface ShownCode {
  readonly code: string;
  /** Empty if it was left out, as the verifier. */
  readonly redirectUri: string;
  readonly codeVerifier: string;
  /** Names the key of the command line; empty if it was left out. */
  readonly deviceName: string;
}

const REFUSED: Exchanged = { kind: 'refused' };

/** RFC 7636 §4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

export function codeExchange({ db, random, sessions, personalKeys, answer }: CodeExchangeDependencies) {
  /** Lets the person in to the client's application as the session of the page was. */
  async function exchangeForSession(unit: Unit, code: UsedCode): Promise<Exchanged> {
    const page = await findContinuedSession(unit, code.pageSessionId);
    const method = SIGNIN_METHODS.find((known) => known === page?.method);
    // Signed out of the pages since.
    if (!page || !method) return REFUSED;
    const { credentialId, authenticatedAt, createdAt } = page;
    const continuedSince = authenticatedAt ?? createdAt;
    const application = await requireApplication(unit, code.applicationId);
    // The lifetime of sessions may have been shortened since.
    if (continuedSince + application.sessionTtlSeconds * SECOND <= unit.now) return REFUSED;
    const signIn = await completeSignIn(unit, sessions, application, {
      person: { userId: code.userId },
      method,
      credentialId,
      userAgent: code.userAgent,
      continuedSince,
    });
    if (!signIn.ok) return { kind: 'refused', reason: signIn.refusal };
    const { sessionId, token, expiresAt, profileId } = signIn;
    const { clientId, applicationUserId, pageSessionId, scope, nonce, codeHash } = code;
    await insertOAuthGrant(unit, { sessionId, clientId, applicationUserId, pageSessionId, scope, expiresAt });
    await noteOAuthCodeResult(unit, { codeHash, sessionId, apiKeyId: null });
    const refreshToken = hasScope(scope, 'offline_access') ? mintSecret('refresh', random) : null;
    if (refreshToken !== null)
      await insertRefreshToken(unit, { tokenHash: hashSecret(refreshToken), sessionId, expiresAt });
    const session = { id: sessionId, method, authenticatedAt: continuedSince, createdAt: unit.now };
    const user = await requireClaimsUser(unit, profileId);
    return { kind: 'session', token, session, user, expiresAt, scope, nonce, refreshToken };
  }

  /** Ends what a code was exchanged for when its client uses it again (RFC 6749 §10.5). */
  async function endReplayed(unit: Unit, client: OpenIdClient, codeHash: Uint8Array): Promise<void> {
    const code = await findOAuthCode(unit, codeHash);
    if (code?.clientId !== client.clientId) return;
    const { userId, sessionId, apiKeyId, applicationId } = code;
    const hasEnded =
      sessionId !== null
        ? (await endSessions(unit, { sessionId }, 'code_replayed')) > 0
        : apiKeyId !== null && (await endKeyOfCode(unit, userId, apiKeyId));
    if (!hasEnded) return;
    const { workspaceId } = await requireApplication(unit, applicationId);
    await recordAudit(unit, {
      kind: 'signin.code_replayed',
      ok: false,
      applicationId,
      workspaceId,
      userId,
      targetId: sessionId ?? apiKeyId,
    });
  }

  async function exchangeOnce(
    unit: Unit,
    client: OpenIdClient,
    codeHash: Buffer,
    input: ShownCode,
  ): Promise<Exchanged> {
    const found = await consumeOAuthCode(unit, codeHash);
    if (!found) {
      await endReplayed(unit, client, codeHash);
      return REFUSED;
    }
    const code: UsedCode = { ...found, codeHash };
    const isRightful =
      code.clientId === client.clientId &&
      code.applicationId === client.application.id &&
      code.expiresAt > unit.now &&
      code.redirectUri === input.redirectUri &&
      isVerifierOf(code.codeChallenge, input.codeVerifier);
    if (!isRightful || !(await isSessionLive(unit, { id: code.pageSessionId, now: unit.now }))) return REFUSED;
    return client.isConsole
      ? exchangeForKey(unit, personalKeys, { code, client, deviceName: input.deviceName })
      : exchangeForSession(unit, code);
  }

  /**
   * Exchanges a code once, even under concurrent calls: the loser counts as a replay, which ends what the code gave.
   *
   * @throws {AppError} invalid_grant, for whatever reason.
   */
  return async (author: Author, client: OpenIdClient, input: ShownCode): Promise<TokenAnswer> => {
    const codeHash = Buffer.from(hashSecret(input.code));
    const seen = isSecret('authorizationCode', input.code) ? await findOAuthCode(db.reader, codeHash) : undefined;
    if (!seen) throw new AppError('invalid_grant');
    const outcome = await db.write(atTheirPlace(author, seen), (unit) => exchangeOnce(unit, client, codeHash, input));
    if (outcome.kind === 'refused')
      throw new AppError('invalid_grant', outcome.reason === undefined ? {} : { hint: outcome.reason });
    return outcome.kind === 'key' ? { access_token: outcome.token, token_type: 'Bearer' } : answer(client, outcome);
  };
}

/** Returns the person as author, where they signed in: the call itself comes from the client's server. */
function atTheirPlace(
  author: Author,
  { userId, ip, ipCountry, userAgent }: Pick<FoundCode, 'userId' | 'ip' | 'ipCountry' | 'userAgent'>,
): Author {
  return Object.create(onBehalfOf(author, userId), {
    ip: { value: ip },
    ipCountry: { value: ipCountry },
    userAgent: { value: userAgent },
  }) as Author;
}

/** Compares in constant time (RFC 7636 §4.6). @param challenge of the method S256. */
function isVerifierOf(challenge: string, verifier: string): boolean {
  const expected = Buffer.from(challenge, 'base64url');
  const shown = createHash('sha256').update(verifier, 'ascii').digest();
  return VERIFIER.test(verifier) && equalDigests(expected, shown);
}
