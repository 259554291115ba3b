/**
 * This server's side of OpenID Connect (Core 1.0 §3.1) towards a provider: where a browser is sent, and what it brings back
 * turned into a profile.
 */
import { jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { SECOND, systemClock, type WorldClock } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { EffectiveProvider } from './clients.ts';
import { type DirectoryDependencies, providerDirectory } from './directory.ts';
import { GOOGLE_ISSUER } from '../../core/issuer.ts';
import type { CallbackQuery } from './model.ts';
import { personalClaims, type ProviderProfile } from './profile.ts';
import { asFault, ProviderFault, throughGuard } from './protocol.ts';
import { proofsOf } from './states.ts';

const SCOPE = 'openid email profile';
const TOLERANCE_SECONDS = 30;
const MAX_AGE_SECONDS = 10 * 60;
const MAX_SUBJECT = 255;

export interface RelyingPartyDependencies extends DirectoryDependencies {
  /** Tokens are dated in real time, so they are judged by it. */
  readonly clock: WorldClock;
  readonly instanceKey: InstanceKey;
  readonly redirectUri: () => string;
}

export type OpenIdRelyingParty = ReturnType<typeof relyingParty>;

/** @returns functions that throw {@link ProviderFault} for whatever the provider does wrong. */
export function relyingParty({ instanceKey, redirectUri, ...dependencies }: RelyingPartyDependencies) {
  const { clock, outbound } = dependencies;
  const publishedBy = providerDirectory(dependencies);
  const options = throughGuard(outbound);

  return {
    /** Where to send a browser, so that its answer belongs to this state. */
    async authorizationUrl({ issuer, clientId }: EffectiveProvider, state: string): Promise<string> {
      const { server } = await publishedBy(issuer);
      const { nonce, codeVerifier } = proofsOf(state, instanceKey);
      // Google does not publish what it takes; others refuse what they do not know.
      const hasAccountChoice = issuer === GOOGLE_ISSUER || lists(server['prompt_values_supported'], 'select_account');
      const url = new URL(server.authorization_endpoint);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri(),
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(hasAccountChoice && { prompt: 'select_account' }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },

    /**
     * Exchanges what a browser brought back for an id_token, and has that judged. What it leaves out is asked for at the
     * UserInfo endpoint (§5.4) and believed of the same subject only (§5.3.2).
     *
     * @returns null for an answer that is the provider's own and an error.
     */
    async profileOf(
      provider: EffectiveProvider,
      { state = '', code = '', iss, error }: CallbackQuery,
    ): Promise<ProviderProfile | null> {
      const { issuer, clientId } = provider;
      const { server, keys } = await publishedBy(issuer);
      const { nonce, codeVerifier } = proofsOf(state, instanceKey);
      const client: oauth.Client = {
        client_id: clientId,
        [oauth.clockTolerance]: TOLERANCE_SECONDS,
        // The library asks the machine for the time; this is how far what we know of it is from that.
        get [oauth.clockSkew]() {
          return secondsOf(clock.real()) - secondsOf(systemClock.real());
        },
      };
      // An empty issuer is a wrong one; the library would take it for a missing one.
      const given = new URLSearchParams({ state, code, ...(iss !== undefined && { iss: iss || 'none' }) });
      const answer = await asFault('callback', async () => oauth.validateAuthResponse(server, client, given, state));
      if (error !== undefined) return null;

      const clientAuth = authentication(server, await provider.secret());
      const tokens = await asFault('token endpoint', async () => {
        const grant = [server, client, clientAuth, answer, redirectUri(), codeVerifier, options] as const;
        const response = await oauth.authorizationCodeGrantRequest(...grant);
        return oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce });
      });
      // The library leaves the signature out, and how old the token may be.
      const { payload } = await asFault('id_token', () =>
        jwtVerify(tokens.id_token ?? '', keys, {
          currentDate: new Date(clock.real()),
          clockTolerance: TOLERANCE_SECONDS,
          maxTokenAge: MAX_AGE_SECONDS,
        }),
      );
      const { sub: subject = '', azp = clientId } = payload;
      if (subject === '' || subject.length > MAX_SUBJECT) throw new ProviderFault('id_token: sub is not usable');
      if (azp !== clientId) throw new ProviderFault('id_token: azp is another client');

      const profile = { issuer, subject, ...personalClaims(payload) };
      if (profile.email !== null || server.userinfo_endpoint === undefined) return profile;
      const claims = await asFault('userinfo', async () => {
        const response = await oauth.userInfoRequest(server, client, tokens.access_token, options);
        return oauth.processUserInfoResponse(server, client, subject, response);
      });
      return { ...profile, ...personalClaims(claims) };
    },
  };
}

function lists(values: unknown, value: string): boolean {
  return Array.isArray(values) && values.includes(value);
}

function secondsOf(ms: number): number {
  return Math.floor(ms / SECOND);
}

function authentication(server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth {
  const methods = server.token_endpoint_auth_methods_supported;
  if (lists(methods, 'client_secret_post') && !lists(methods, 'client_secret_basic'))
    return oauth.ClientSecretPost(secret);
  // RFC 6749 §2.3.1 as forms are encoded. The library escapes `-`, `.` and `_` too, which Google does not read.
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return (_server, { client_id: id }, _body, headers) =>
    headers.set('authorization', `Basic ${btoa(`${encode(id)}:${encode(secret)}`)}`);
}
