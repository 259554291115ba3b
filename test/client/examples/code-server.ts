/** A server with the wire of the authorization code flow in front of an ephemeral one, which makes the sessions. */
import type { EphemeralServer } from '@/client/testing.ts';

export interface CodeServer {
  readonly url: string;
  readonly clientSecret: string;
  /** The person who signs in at once on the page that the browser is sent to. */
  signsIn: string;
  stop(): void;
}

export function codeServer(server: EphemeralServer): CodeServer {
  const clientSecret = 'esk_secret';
  const codes = new Map<string, { challenge: string; redirectUri: string; email: string }>();

  function authorize(given: URLSearchParams): Response {
    const redirectUri = `${given.get('redirect_uri')}`;
    const code = `eac_${crypto.randomUUID().replaceAll('-', '')}`;
    codes.set(code, { challenge: `${given.get('code_challenge')}`, redirectUri, email: it.signsIn });
    const answer = new URLSearchParams({ code, state: `${given.get('state')}`, iss: it.url });
    return new Response(null, { status: 302, headers: { location: `${redirectUri}?${answer}` } });
  }

  async function exchange(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const refuse = (error: string, status = 400) => Response.json({ error }, { status });
    if (request.headers.get('authorization') !== `Basic ${btoa(`${server.clientId}:${clientSecret}`)}`)
      return refuse('invalid_client', 401);
    const code = codes.get(`${form.get('code')}`);
    codes.delete(`${form.get('code')}`);
    const hash = new Bun.CryptoHasher('sha256').update(`${form.get('code_verifier')}`).digest('base64url');
    if (code?.challenge !== hash || code.redirectUri !== form.get('redirect_uri')) return refuse('invalid_grant');
    const { token } = await server.signIn(code.email);
    return Response.json({ access_token: token, token_type: 'Bearer', expires_in: 2592000 });
  }

  const listening = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      if (pathname === '/oauth/authorize') return authorize(searchParams);
      if (pathname === '/oauth/token') return exchange(request);
      return fetch(`${server.url}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
      });
    },
  });
  const it: CodeServer = {
    url: listening.url.origin,
    clientSecret,
    signsIn: 'ada@example.com',
    stop: () => void listening.stop(true),
  };
  return it;
}
