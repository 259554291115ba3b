/** Hooks and a webhook plugin for Fastify. */
import type { FastifyPluginAsync } from 'fastify';
import {
  createVerifier,
  type Identity,
  type IncomingRequest,
  Refusal,
  type VerifierOptions,
  type WebhookEvent,
  verifyWebhook,
} from './gatehouse.ts';
import { signingSecrets } from './options.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the hooks of `gatehouse/fastify`. */
    identity?: Identity;
  }
}

/** The parts of Fastify’s reply that are used. */
export interface FastifyReplyLike {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

/** For `onRequest`, which runs before the body is read, or any later hook. */
export type Hook = (request: IncomingRequest & { identity?: Identity }, reply: FastifyReplyLike) => Promise<unknown>;

/** Hooks that answer 401, 403, 429 or 503 themselves, unless they admit the caller. */
export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** Admits whoever has a valid session or key, and sets `request.identity`. */
  requireSession(): Hook;
  /** Admits whoever has one of the roles too. */
  requireRole(role: Role | readonly Role[]): Hook;
  /** Admits whoever has one of the scopes too. */
  requireScope(scope: Scope | readonly Scope[]): Hook;
  /** Admits everybody, and sets `request.identity` for whoever has a valid session. */
  findSession(): Hook;
  /** Returns the identity of a request behind one of the above. @throws {TypeError} for any other request. */
  identityOf(request: { readonly identity?: Identity }): Identity<Role, Scope>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: VerifierOptions,
): Gatehouse<Role, Scope> {
  const verifier = createVerifier<Role, Scope>(options);

  const hook =
    (find: (request: IncomingRequest) => Promise<Identity<Role, Scope> | null>): Hook =>
    async (request, reply) => {
      try {
        const identity = await find(request);
        if (identity) request.identity = identity;
        return undefined;
      } catch (error) {
        return answer(error, reply);
      }
    };

  return {
    requireSession: () => hook(verifier.requireSession),
    requireRole: (role) => hook((request) => verifier.requireRole(request, role)),
    requireScope: (scope) => hook((request) => verifier.requireScope(request, scope)),
    findSession: () => hook(verifier.findSession),
    identityOf({ identity }) {
      if (!identity) throw new TypeError('There is no identity: give the route requireSession() as onRequest.');
      return identity as Identity<Role, Scope>;
    },
  };
}

/**
 * Returns a plugin for `register` that handles a webhook: 200 once `onEvent` is done, 401 for a forgery. It reads the
 * raw body; other routes keep their parsers.
 * @param secret `whsec_…`, or several during a rotation.
 * @throws {TypeError} without a secret.
 */
export function webhook(
  path: string,
  secret: string | readonly string[],
  onEvent: (event: WebhookEvent) => unknown,
): FastifyPluginAsync {
  const secrets = signingSecrets('webhook', secret);
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.post(path, async (request, reply) => {
      try {
        await onEvent(await verifyWebhook(request.body as Uint8Array, request.headers, secrets));
        return '';
      } catch (error) {
        return answer(error, reply);
      }
    });
  };
}

/** Sends the answer of a refusal. @throws anything else, for the error handler. */
function answer(error: unknown, reply: FastifyReplyLike): unknown {
  if (!(error instanceof Refusal)) throw error;
  reply.code(error.status);
  reply.headers(error.headers);
  return reply.send(error.body);
}
