/** Answers of the token endpoint for a client's session, with its ID token. */
import { type Clock, SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Verification } from '../verification/service.ts';
import type { OpenIdClient } from './clients.ts';
import type { IdTokenInput, OpenIdTokens } from './id-token.ts';
import type { TokenAnswer } from './model.ts';

export interface TokenAnswerDependencies {
  readonly clock: Clock;
  readonly verification: Pick<Verification, 'look'>;
  readonly tokens: Pick<OpenIdTokens, 'idToken'>;
}

/** Tokens that a change has made, in plain text. */
export interface Granted {
  readonly token: string;
  readonly session: IdTokenInput['session'];
  readonly user: IdTokenInput['user'];
  readonly expiresAt: number;
  readonly scope: string;
  readonly nonce: string | null;
  /** Null without the scope `offline_access`. */
  readonly refreshToken: string | null;
}

export type TokenAnswers = ReturnType<typeof tokenAnswers>;

/** The result signs: call it after the change. */
export function tokenAnswers({ clock, verification, tokens }: TokenAnswerDependencies) {
  async function idTokenFor(client: OpenIdClient, { token, session, user, scope, nonce }: Granted): Promise<string> {
    const looked = await verification.look(token);
    // Ended since the change, such as by a ban.
    if (looked === null || looked.refusal !== null || !('sessionId' in looked.row)) throw new AppError('invalid_grant');
    const subject = looked.row;
    return tokens.idToken({ client, subject, user, session, nonce, accessToken: token, scope });
  }

  /** @throws {AppError} invalid_grant if the session has ended meanwhile. */
  return async (client: OpenIdClient, granted: Granted): Promise<TokenAnswer> => {
    const { token, expiresAt, scope, refreshToken } = granted;
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: Math.floor((expiresAt - clock.now()) / SECOND),
      scope,
      ...(hasScope(scope, 'openid') && { id_token: await idTokenFor(client, granted) }),
      ...(refreshToken !== null && { refresh_token: refreshToken }),
    };
  };
}

/** @param scope separated by spaces. */
export function hasScope(scope: string, name: string): boolean {
  return scope.split(' ').includes(name);
}
