/** Exchanges the code that came back for an id_token, has it judged, and asks for what it leaves out. */
import type { Clock } from '../../core/clock.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import type { EffectiveProvider } from './clients.ts';
import type { Directory, ProviderMetadata } from './directory.ts';
import { askProvider } from './endpoint.ts';
import { ProviderFault } from './fault.ts';
import { type ExpectedToken, personalClaims, type ProviderProfile, readIdToken, UnknownKey } from './id-token.ts';
import type { FlowProofs } from './states.ts';

export interface ExchangeDependencies {
  readonly clock: Clock;
  readonly outbound: GuardedFetch;
  readonly directory: Directory;
  readonly redirectUri: () => string;
}

export type Exchange = ReturnType<typeof codeExchange>;

export function codeExchange({ clock, outbound, directory, redirectUri }: ExchangeDependencies) {
  async function tokensFor(
    { tokenEndpoint, isSecretPosted }: ProviderMetadata,
    { clientId, secret }: EffectiveProvider,
    code: string,
    codeVerifier: string,
  ): Promise<{ idToken: string; accessToken: unknown }> {
    const clientSecret = await secret();
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      code_verifier: codeVerifier,
      ...(isSecretPosted && { client_id: clientId, client_secret: clientSecret }),
    });
    const answer = await askProvider(outbound, 'token endpoint', {
      url: tokenEndpoint,
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(!isSecretPosted && { Authorization: basic(clientId, clientSecret) }),
      },
      body: form.toString(),
    });
    const idToken = answer['id_token'];
    if (typeof idToken !== 'string') throw new ProviderFault('token endpoint: answered without an id_token');
    return { idToken, accessToken: answer['access_token'] };
  }

  async function judge(idToken: string, metadata: ProviderMetadata, expected: ExpectedToken): Promise<ProviderProfile> {
    try {
      return await readIdToken(idToken, await directory.keys(metadata), expected);
    } catch (error) {
      if (!(error instanceof UnknownKey)) throw error;
      return readIdToken(idToken, await directory.newKeys(metadata), expected);
    }
  }

  /**
   * Providers may leave what the scopes ask for to the UserInfo endpoint (OpenID Connect Core 1.0 §5.4). What it says is
   * believed of the subject of the id_token only (§5.3.2).
   */
  async function completed(
    profile: ProviderProfile,
    { userinfoEndpoint: url }: ProviderMetadata,
    accessToken: unknown,
  ): Promise<ProviderProfile> {
    if (profile.email !== null || url === null || typeof accessToken !== 'string') return profile;
    const headers = { Authorization: `Bearer ${accessToken}` };
    const claims = await askProvider(outbound, 'userinfo', { url, method: 'GET', headers });
    if (claims['sub'] !== profile.subject) throw new ProviderFault('userinfo: sub is somebody else');
    return { ...profile, ...personalClaims(claims) };
  }

  /** @throws {ProviderFault} */
  return async function exchange(
    provider: EffectiveProvider,
    metadata: ProviderMetadata,
    code: string,
    { nonce, codeVerifier }: FlowProofs,
  ): Promise<ProviderProfile> {
    const { idToken, accessToken } = await tokensFor(metadata, provider, code, codeVerifier);
    const { issuer, clientId } = provider;
    const profile = await judge(idToken, metadata, { issuer, clientId, nonce, now: clock.now() });
    return completed(profile, metadata, accessToken);
  };
}

/** RFC 6749 §2.3.1: both parts are form-encoded before they are joined. */
function basic(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`;
}
