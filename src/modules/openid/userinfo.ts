/** UserInfo (OpenID Connect Core 1.0 §5.3): claims of a session's granted scope, live. */
import { AppError, invalidField } from '../../core/error.ts';
import { addressPrefix } from '../../core/ip-address.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { bearerToken } from '../../http/authenticate.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { applyLimit, type LimitUses } from '../../http/rate-limit.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { findOAuthGrant } from '../../store/oauth-grants.ts';
import { requireClaimsUser } from '../../store/people.ts';
import type { Verification } from '../verification/service.ts';
import { hasScope } from './answer.ts';
import { claimsFor } from './claims.ts';
import type { CountSessionCall } from './session-limit.ts';

export interface UserInfoDependencies {
  readonly db: Pick<Database, 'reader'>;
  readonly verification: Pick<Verification, 'credentials' | 'noteSessionVerdict'>;
  readonly limiter: LimitUses;
  readonly limits: Pick<LimitSettings, 'failuresPerAddressPerMinute'>;
  readonly countCall: CountSessionCall;
}

export type UserInfoService = ReturnType<typeof userInfoService>;

export function userInfoService({ db, verification, limiter, limits, countCall }: UserInfoDependencies) {
  /** Returns `sub` and the claims of the granted scope. @throws {AppError} insufficient_scope */
  async function claimsOf({ sessionId, userId, profileId, identity }: SessionPrincipal) {
    const grant = await findOAuthGrant(db.reader, sessionId);
    if (!grant || !hasScope(grant.scope, 'openid')) throw new AppError('insufficient_scope');
    const user = await requireClaimsUser(db.reader, profileId);
    const profileUserId = profileId === userId ? null : profileId;
    return claimsFor(grant.scope, { userId, profileUserId, envelope: identity.envelope }, user);
  }

  return {
    claimsOf,

    /**
     * Answers a request whose token may be in its form (RFC 6750 §2.2). Counts as the `token` rule of operations does.
     *
     * @throws {AppError} invalid_request, invalid_token, insufficient_scope, rate_limited
     */
    async ofForm({ request, ip, headers }: RequestContext, inForm: string | undefined) {
      const inHeader = bearerToken(request);
      if (inHeader !== null && inForm)
        throw invalidField('access_token', 'Send the token once: in the header, or here.');
      const found = await verification.credentials.findSession(inHeader ?? inForm ?? '', db.reader);
      if (typeof found === 'string') {
        verification.noteSessionVerdict(found, null);
        const allowed = limits.failuresPerAddressPerMinute;
        applyLimit(headers, await limiter.consume(LIMITS.failuresPerAddressPerMinute, addressPrefix(ip), allowed));
        throw new AppError(found);
      }
      verification.noteSessionVerdict('ok', found);
      await countCall(headers, found);
      return claimsOf(found);
    },
  };
}
