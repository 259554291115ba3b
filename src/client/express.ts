/** Middleware for Express, and for Connect, NestJS and others that take middleware of the same shape. */
import {
  createVerifier,
  type Identity,
  type IncomingRequest,
  type NodeResponse,
  Refusal,
  type VerifierOptions,
  type WebhookEvent,
  verifyWebhook,
} from './gatehouse.ts';
import { signingSecrets } from './options.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set by the middleware of `gatehouse/express`. */
      identity?: Identity;
    }
  }
}

/** The request of `node:http`, with what body parsers and this middleware add. */
export interface ExpressRequest extends IncomingRequest {
  body?: unknown;
  identity?: Identity;
}

export type Middleware = (request: ExpressRequest, response: NodeResponse, next: (error?: unknown) => void) => void;

/** Middleware that answers 401, 403, 429 or 503 itself, unless it admits the caller. */
export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** Admits whoever has a valid session or key, and sets `request.identity`. */
  requireSession(): Middleware;
  /** Admits whoever has one of the roles too. */
  requireRole(role: Role | readonly Role[]): Middleware;
  /** Admits whoever has one of the scopes too. */
  requireScope(scope: Scope | readonly Scope[]): Middleware;
  /** Admits everybody, and sets `request.identity` for whoever has a valid session. */
  findSession(): Middleware;
  /** Returns the identity of a request behind one of the above. @throws {TypeError} for any other request. */
  identityOf(request: ExpressRequest): Identity<Role, Scope>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: VerifierOptions,
): Gatehouse<Role, Scope> {
  const verifier = createVerifier<Role, Scope>(options);

  const middleware =
    (find: (request: IncomingRequest) => Promise<Identity<Role, Scope> | null>): Middleware =>
    (request, response, next) => {
      find(request).then(
        (identity) => {
          if (identity) request.identity = identity;
          next();
        },
        (error: unknown) => answer(error, response, next),
      );
    };

  return {
    requireSession: () => middleware(verifier.requireSession),
    requireRole: (role) => middleware((request) => verifier.requireRole(request, role)),
    requireScope: (scope) => middleware((request) => verifier.requireScope(request, scope)),
    findSession: () => middleware(verifier.findSession),
    identityOf({ identity }) {
      if (!identity) throw new TypeError('There is no identity: put requireSession() before this handler.');
      return identity as Identity<Role, Scope>;
    },
  };
}

/**
 * Turns a function from a request to a fetch `Response` into middleware, such as the three of `createSignIn`:
 * `app.get('/auth/sign-in', respond(signIn.begin))`.
 */
export function respond(handle: (request: ExpressRequest) => Promise<Response>): Middleware {
  return (request, response, next) => {
    handle(request)
      .then(async (answered) => {
        const headers = { ...Object.fromEntries(answered.headers), 'set-cookie': answered.headers.getSetCookie() };
        // Node takes several cookies as a list, which the type of other headers does not have.
        response.writeHead(answered.status, headers as unknown as Record<string, string>);
        response.end(await answered.text());
      })
      .catch((error: unknown) => answer(error, response, next));
  };
}

/** Longest body of a webhook in bytes; events are far shorter. */
const MOST_BYTES = 1024 * 1024;

/**
 * Handles a webhook: 200 once `onEvent` is done, 401 for a forgery, and the error handler if it fails, so that the
 * server sends the event again. Put it before `express.json()`, which would take the raw body.
 * @param secret `whsec_…`, or several during a rotation.
 * @throws {TypeError} without a secret.
 */
export function webhook(secret: string | readonly string[], onEvent: (event: WebhookEvent) => unknown): Middleware {
  const secrets = signingSecrets('webhook', secret);
  return (request, response, next) => {
    receive(request, secrets, onEvent)
      .then(() => {
        response.writeHead(200, {});
        response.end('');
      })
      .catch((error: unknown) => answer(error, response, next));
  };
}

async function receive(
  request: ExpressRequest,
  secrets: readonly string[],
  onEvent: (event: WebhookEvent) => unknown,
): Promise<void> {
  const body = request.body ?? (await rawBody(request as AsyncIterable<Uint8Array> & IncomingRequest));
  await onEvent(await verifyWebhook(body as Uint8Array, request.headers, secrets));
}

/** Reads the body, and ends with less than all of one that is too long, which then has no valid signature. */
async function rawBody(request: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) break;
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

function answer(error: unknown, response: NodeResponse, next: (error?: unknown) => void): void {
  if (error instanceof Refusal) error.sendTo(response);
  else next(error);
}
