/**
 * A real OpenID provider (`oidc-provider`, certified) on a free port of loopback. A browser or a fetch can fill in its
 * login form: an input `login`, a submit button, and a button `cancel`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider';

export interface OpenIdAccount {
  /** Typed into the form; also the subject. */
  readonly login: string;
  readonly email: string;
  /** True by default. */
  readonly email_verified?: unknown;
  readonly name?: string;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly picture?: string;
}

export interface OpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Can be changed at any time. */
  readonly accounts: OpenIdAccount[];
  /** Settings of an instance that uses this provider. */
  readonly environment: Record<string, string>;
  /** Accepts only these from now on; at first any is accepted. */
  setRedirectUris(uris: readonly string[]): void;
  stop(): Promise<void>;
}

const CLIENT_ID = 'gatehouse';
const CLIENT_SECRET = 'a secret: with / and + and %';

export interface OpenIdProviderOptions {
  /** Accounts that can log in. */
  readonly accounts: readonly OpenIdAccount[];
  /** Keeps the package's defaults: claims only at the UserInfo endpoint, and no choice among accounts. */
  readonly isStrict?: boolean;
}

export async function startOpenIdProvider({
  accounts,
  isStrict = false,
}: OpenIdProviderOptions): Promise<OpenIdProvider> {
  const known = [...accounts];
  let redirectUris: readonly string[] | null = null;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await quietly(async () => new Provider(issuer, await configuration(known, isStrict)));
  provider.Client.prototype.redirectUriAllowed = (uri) => redirectUris?.includes(uri) ?? true;

  const answer = provider.callback();
  handle = (request, response) => {
    const isInteraction = request.url!.startsWith('/interaction/');
    if (!isInteraction) return void answer(request, response);
    interact(provider, known, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  };
  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    accounts: known,
    environment: {
      GATEHOUSE_GOOGLE_ISSUER: issuer,
      GATEHOUSE_GOOGLE_CLIENT_ID: CLIENT_ID,
      GATEHOUSE_GOOGLE_CLIENT_SECRET: CLIENT_SECRET,
    },
    setRedirectUris: (uris) => void (redirectUris = uris),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function configuration(accounts: readonly OpenIdAccount[], isStrict: boolean): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const policy = interactionPolicy.base();
  if (!isStrict) policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: ['https://never.example.com/callback'],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'first', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a key for the cookies of a test'] },
    // Google puts the requested scopes' claims into the id_token itself.
    conformIdTokenClaims: isStrict,
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name', 'picture'],
    },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { policy, url: (_, { uid }) => `/interaction/${uid}` },
    findAccount(_, login) {
      const account = accounts.find((one) => one.login === login);
      if (!account) return undefined;
      const { login: sub, ...claims } = account;
      return { accountId: sub, claims: () => ({ sub, email_verified: true, ...claims }) as never };
    },
    loadExistingGrant: grantEverything,
    ttl: { Session: 600, Interaction: 600, Grant: 600, AuthorizationCode: 60, IdToken: 600, AccessToken: 600 },
  };
}

/** Grants every scope without asking for consent. */
async function grantEverything({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}

async function interact(
  provider: Provider,
  accounts: readonly OpenIdAccount[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid } = await provider.interactionDetails(request, response);
  const form = request.method === 'POST' ? await formOf(request) : null;
  if (form?.has('cancel'))
    return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'cancelled' });
  const login = form?.get('login');
  if (login && accounts.some((account) => account.login === login))
    return provider.interactionFinished(request, response, { select_account: {}, login: { accountId: login } });
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(loginPage(uid));
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

function loginPage(uid: string): string {
  return `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Log in to the provider</title></head>
  <body>
    <form method="post" action="/interaction/${uid}">
      <label>Login <input name="login" autofocus></label>
      <button type="submit">Log in</button>
      <button type="submit" name="cancel" value="1" formnovalidate>Cancel</button>
    </form>
  </body>
</html>`;
}

/** Silences the package's warnings about plain http and a runtime other than Node, both intended here. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const { warn, info } = console;
  console.warn = console.info = () => {};
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, info });
  }
}
