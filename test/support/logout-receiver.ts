/**
 * A client's back-channel logout endpoint on a free port of loopback. It validates each logout token by the `jose` package
 * as OpenID Connect Back-Channel Logout 1.0 §2.6 says: a wrong one is answered 400 and makes `close` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { ReceiverAnswer } from './receiver.ts';

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export interface ReceivedLogout {
  readonly token: string;
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly alg: string;
  /** Lifetime of the token in seconds. */
  readonly lifetime: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface LogoutReceiver {
  readonly url: string;
  /** Logouts with a valid token, in order. */
  readonly received: readonly ReceivedLogout[];
  answerWith(answering: () => ReceiverAnswer): void;
  /** @throws if a token was wrong. */
  close(): Promise<void>;
}

export interface LogoutReceiverOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Published keys, read anew for each token. */
  readonly jwks: () => Promise<JSONWebKeySet> | JSONWebKeySet;
  /** The sender's real clock. */
  readonly now: () => number;
}

export async function startLogoutReceiver(options: LogoutReceiverOptions): Promise<LogoutReceiver> {
  const { issuer, clientId, jwks, now } = options;
  const received: ReceivedLogout[] = [];
  const refused: unknown[] = [];
  const seen = new Set<string>();
  let answering: () => ReceiverAnswer = () => ({ status: 200 });

  async function validate(body: string, headers: ReceivedLogout['headers']): Promise<ReceivedLogout> {
    const form = new URLSearchParams(body);
    const token = form.get('logout_token') ?? '';
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(await jwks()), {
      issuer,
      audience: clientId,
      typ: 'logout+jwt',
      algorithms: ['RS256', 'EdDSA'],
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti', 'events', 'sub', 'sid'],
      maxTokenAge: '2 minutes',
      currentDate: new Date(now()),
    });
    const { sub = '', sid, jti = '', iat = 0, exp = 0, events } = payload;
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') throw new Error('this is no form');
    if ([...form.keys()].length !== 1) throw new Error('the form has other fields');
    if ('nonce' in payload) throw new Error('a nonce is prohibited');
    if (JSON.stringify(events) !== JSON.stringify({ [LOGOUT_EVENT]: {} })) throw new Error('the event is another');
    if (seen.has(jti)) throw new Error(`${jti} came before`);
    seen.add(jti);
    return { token, sub, sid: String(sid), jti, alg: protectedHeader.alg, lifetime: exp - iat, headers };
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      received.push(await validate(Buffer.concat(chunks).toString('utf8'), request.headers));
    } catch (error) {
      refused.push(error);
      response.writeHead(400).end();
      return;
    }
    const { status, headers, body } = answering();
    response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body);
  }

  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/backchannel-logout`,
    received,
    answerWith: (next) => void (answering = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (refused.length > 0) throw new Error(`${refused.length} tokens were refused: ${String(refused[0])}`);
    },
  };
}
