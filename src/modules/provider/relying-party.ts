/** The OpenID Connect relying party (Core 1.0 §3.1): builds authorization URLs, and turns callbacks into profiles. */
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
  /** Token times are real time, so they are checked against real time. */
  readonly clock: WorldClock;
  readonly instanceKey: InstanceKey;
  readonly redirectUri: () => string;
}

export type OpenIdRelyingParty = ReturnType<typeof relyingParty>;

/** @returns functions that throw {@link ProviderFault} for every fault of the provider. */
export function relyingParty({ instanceKey, redirectUri, ...dependencies }: RelyingPartyDependencies) {
  const { clock, outbound } = dependencies;
  const publishedBy = providerDirectory(dependencies);
  const options = throughGuard(outbound);

  return {
    async authorizationUrl({ issuer, clientId }: EffectiveProvider, state: string): Promise<string> {
      const { server } = await publishedBy(issuer);
      const { nonce, codeVerifier } = proofsOf(state, instanceKey);
      // Google does not publish its prompt values; others refuse unknown ones.
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
     * Exchanges the code and verifies the id_token. UserInfo gives missing claims (§5.4) of the same subject (§5.3.2).
     *
     * @returns null if the provider itself answered with an error.
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
        // The library reads the system clock; this is the difference to ours.
        get [oauth.clockSkew]() {
          return secondsOf(clock.real()) - secondsOf(systemClock.real());
        },
      };
      // An empty `iss` is wrong; the library would treat it as missing.
      const given = new URLSearchParams({ state, code, ...(iss !== undefined && { iss: iss || 'none' }) });
      const answer = await asFault('callback', async () => oauth.validateAuthResponse(server, client, given, state));
      if (error !== undefined) return null;

      const clientAuth = authentication(server, await provider.secret());
      const tokens = await asFault('token endpoint', async () => {
        const grant = [server, client, clientAuth, answer, redirectUri(), codeVerifier, options] as const;
        const response = await oauth.authorizationCodeGrantRequest(...grant);
        return oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce });
      });
      // The library checks neither the signature nor the token's age.
      const { payload } = await asFault('id_token', () =>
        jwtVerify(tokens.id_token ?? '', keys, {
          currentDate: new Date(clock.real()),
          clockTolerance: TOLERANCE_SECONDS,
          maxTokenAge: MAX_AGE_SECONDS,
        }),
      );
      const { sub: subject = '', azp = clientId } = payload;
      if (subject === '' || subject.length > MAX_SUBJECT || !subject.isWellFormed() || subject.includes('\0'))
        throw new ProviderFault('id_token: sub is not usable');
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
  // Form encoding per RFC 6749 §2.3.1. The library also escapes `-`, `.` and `_`, which Google does not decode.
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return (_server, { client_id: id }, _body, headers) =>
    headers.set('authorization', `Basic ${btoa(`${encode(id)}:${encode(secret)}`)}`);
}
