/** ID tokens (OpenID Connect Core 1.0 §2) and logout tokens (Back-Channel Logout 1.0 §2.4). */
import { MINUTE, SECOND, type WorldClock } from '../../core/clock.ts';
import type { ClaimsUser } from '../../store/people.ts';
import type { Session } from '../../store/sessions.ts';
import type { SigningAlgorithm } from '../../store/signing-keys.ts';
import { acrOf, amrOf, atHash, claimsFor, type ClaimsSubject } from './claims.ts';
import type { SigningKeys } from './keys.ts';

/** A client checks an ID token as soon as it has it. */
const ID_TOKEN_LIFETIME_MS = 5 * MINUTE;
/** Back-Channel Logout 1.0 §4 recommends at most two minutes. */
const LOGOUT_TOKEN_LIFETIME_MS = 2 * MINUTE;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The client that a token is for. */
export interface Audience {
  readonly clientId: string;
  readonly alg: SigningAlgorithm;
}

export interface IdTokenInput {
  readonly client: Audience;
  readonly subject: ClaimsSubject;
  /** The account with the profile: `profileUserId` of the subject, else `userId`. */
  readonly user: ClaimsUser;
  /** The client's session. */
  readonly session: Pick<Session, 'id' | 'method' | 'authenticatedAt' | 'createdAt'>;
  /** Null for a refresh, and where the request had none. */
  readonly nonce: string | null;
  readonly accessToken: string;
  /** The granted scope. */
  readonly scope: string;
}

export interface LogoutTokenInput {
  readonly client: Audience;
  readonly userId: string;
  readonly sessionId: string;
  /** Identifies this attempt at this delivery. */
  readonly jti: string;
}

export type OpenIdTokens = ReturnType<typeof openIdTokens>;

/** Token times are real time, as their receivers check them against their own clock. */
export function openIdTokens({
  keys,
  clock,
}: {
  readonly keys: Pick<SigningKeys, 'sign'>;
  readonly clock: WorldClock;
}) {
  const timesFor = (lifetimeMs: number) => ({
    iat: seconds(clock.real()),
    exp: seconds(clock.real() + lifetimeMs),
  });

  return {
    /** Returns a signed ID token. Call it outside of a change. */
    idToken({ client, subject, user, session, nonce, accessToken, scope }: IdTokenInput): Promise<string> {
      const { id: sid, method, authenticatedAt, createdAt } = session;
      const [amr, acr] = [amrOf(method), acrOf(method)];
      // Shifted where the clock was moved, so that its age is right to the receiver.
      const provedAt = (authenticatedAt ?? createdAt) + clock.real() - clock.now();
      return keys.sign(client.alg, 'JWT', {
        ...claimsFor(scope, subject, user),
        aud: client.clientId,
        ...timesFor(ID_TOKEN_LIFETIME_MS),
        auth_time: seconds(provedAt),
        ...(nonce !== null && { nonce }),
        at_hash: atHash(client.alg, accessToken),
        sid,
        ...(amr && { amr }),
        ...(acr && { acr }),
      });
    },

    /** Returns a signed logout token. Call it outside of a change. */
    logoutToken({ client, userId, sessionId, jti }: LogoutTokenInput): Promise<string> {
      return keys.sign(client.alg, 'logout+jwt', {
        sub: userId,
        sid: sessionId,
        aud: client.clientId,
        ...timesFor(LOGOUT_TOKEN_LIFETIME_MS),
        jti,
        events: { [LOGOUT_EVENT]: {} },
      });
    },
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / SECOND);
}
