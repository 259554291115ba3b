/** A provider written for the tests, on a free loopback port, that claims and signs anything a test wants. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export type Endpoint = 'discovery' | 'token' | 'keys' | 'userinfo';

export interface HostileProvider {
  readonly issuer: string;
  /** The settings of an instance that uses this provider. */
  readonly environment: Record<string, string>;
  /** Overrides of the discovery document. */
  metadata: Record<string, unknown>;
  /** Overrides of the claims in later id_tokens; undefined omits one. */
  claims: Record<string, unknown>;
  /** Makes an id_token of the claims; signs correctly unless replaced. */
  sign: (claims: Record<string, unknown>) => Promise<string>;
  /** The answer of the UserInfo endpoint to a valid access token. */
  userinfo: Record<string, unknown>;
  /** Replacements for an endpoint's answer. */
  readonly instead: Partial<Record<Endpoint, () => Response | Promise<Response>>>;
  /** The number of requests to each endpoint. */
  readonly asked: Record<Endpoint, number>;
  /** The last request to the token endpoint. */
  lastForm: URLSearchParams;
  lastAuthorization: string | null;
  readonly publicKey: () => JWK;
  readonly privateKey: () => CryptoKey;
  /** Signs with a new key from now on. @param isPublished whether the key set contains it. */
  rotate(isPublished?: boolean): Promise<void>;
  /** Returns the query of the provider's answer when a browser arrives at this address and the person agrees. */
  agree(authorizationUrl: string): URLSearchParams;
  stop(): Promise<void>;
}

/** Key generation is slow, so all providers begin with the same key. */
const FIRST_KEY = generateKeyPair('RS256', { extractable: true });

const CLIENT_SECRET = 'a secret: with / and + and %';

/** @param now the clock for the times in its tokens. */
export async function startHostileProvider(now: () => number): Promise<HostileProvider> {
  let key = await FIRST_KEY;
  let keyNumber = 1;
  let published: JWK[] = [await publicJwk()];
  const codes = new Map<string, { nonce: string; challenge: string; redirectUri: string }>();

  async function publicJwk(): Promise<JWK> {
    return { ...(await exportJWK(key.publicKey)), kid: `key-${keyNumber}`, alg: 'RS256', use: 'sig' };
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    provider.lastForm = form;
    provider.lastAuthorization = request.headers.get('authorization');
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = new Bun.CryptoHasher('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (!code || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
      return Response.json({ error: 'invalid_grant' }, { status: 400 });
    const seconds = Math.floor(now() / 1000);
    const claims = {
      iss: provider.issuer,
      aud: 'gatehouse',
      sub: 'subject-1',
      iat: seconds,
      exp: seconds + 300,
      nonce: code.nonce,
      email: 'ada@example.com',
      email_verified: true,
      ...provider.claims,
    };
    const present = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
    return Response.json({ access_token: 'x', token_type: 'Bearer', id_token: await provider.sign(present) });
  }

  function userinfo(request: Request): Response {
    if (request.headers.get('authorization') !== 'Bearer x') return new Response(null, { status: 401 });
    return Response.json({ sub: provider.claims['sub'] ?? 'subject-1', ...provider.userinfo });
  }

  function discovery(): Response {
    return Response.json({
      issuer: provider.issuer,
      authorization_endpoint: `${provider.issuer}/authorize?kept=1`,
      token_endpoint: `${provider.issuer}/token`,
      jwks_uri: `${provider.issuer}/keys`,
      userinfo_endpoint: `${provider.issuer}/userinfo`,
      ...provider.metadata,
    });
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const endpoint = ENDPOINTS[new URL(request.url).pathname];
      if (!endpoint) return new Response(null, { status: 404 });
      provider.asked[endpoint] += 1;
      const instead = provider.instead[endpoint];
      if (instead) return instead();
      if (endpoint === 'discovery') return discovery();
      if (endpoint === 'userinfo') return userinfo(request);
      return endpoint === 'keys' ? Response.json({ keys: published }) : token(request);
    },
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  const provider: HostileProvider = {
    issuer,
    environment: {
      GATEHOUSE_GOOGLE_ISSUER: issuer,
      GATEHOUSE_GOOGLE_CLIENT_ID: 'gatehouse',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: CLIENT_SECRET,
    },
    metadata: {},
    claims: {},
    sign: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: `key-${keyNumber}` }).sign(key.privateKey),
    instead: {},
    userinfo: {},
    asked: { discovery: 0, token: 0, keys: 0, userinfo: 0 },
    lastForm: new URLSearchParams(),
    lastAuthorization: null,
    publicKey: () => published.at(-1)!,
    privateKey: () => key.privateKey,
    async rotate(isPublished = true) {
      key = await generateKeyPair('RS256', { extractable: true });
      keyNumber += 1;
      if (isPublished) published = [await publicJwk()];
    },
    agree(authorizationUrl) {
      const asked = new URL(authorizationUrl).searchParams;
      const code = `code-${codes.size + 1}-${crypto.randomUUID()}`;
      codes.set(code, {
        nonce: asked.get('nonce')!,
        challenge: asked.get('code_challenge')!,
        redirectUri: asked.get('redirect_uri')!,
      });
      return new URLSearchParams({ code, state: asked.get('state')! });
    },
    stop: () => server.stop(true),
  };
  return provider;
}

const ENDPOINTS: Record<string, Endpoint> = {
  '/.well-known/openid-configuration': 'discovery',
  '/token': 'token',
  '/keys': 'keys',
  '/userinfo': 'userinfo',
};
