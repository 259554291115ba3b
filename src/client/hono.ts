/** Middleware for Hono. */
import type { MiddlewareHandler } from 'hono';
import { createVerifier, type Identity, type IncomingRequest, Refusal, type VerifierOptions } from './gatehouse.ts';

/** Handlers after the middleware read it with `c.get('identity')`, typed. */
export interface Admitted<Person> {
  Variables: { identity: Person };
}

/** Middleware that answers 401, 403, 429 or 503 itself, unless it admits the caller. */
export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** Admits whoever has a valid session or key. */
  requireSession(): MiddlewareHandler<Admitted<Identity<Role, Scope>>>;
  /** Admits whoever has one of the roles too. */
  requireRole(role: Role | readonly Role[]): MiddlewareHandler<Admitted<Identity<Role, Scope>>>;
  /** Admits whoever has one of the scopes too. */
  requireScope(scope: Scope | readonly Scope[]): MiddlewareHandler<Admitted<Identity<Role, Scope>>>;
  /** Admits everybody; the identity is null without a valid session. */
  findSession(): MiddlewareHandler<Admitted<Identity<Role, Scope> | null>>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: VerifierOptions,
): Gatehouse<Role, Scope> {
  const verifier = createVerifier<Role, Scope>(options);

  const middleware =
    <Person>(find: (request: IncomingRequest) => Promise<Person>): MiddlewareHandler<Admitted<Person>> =>
    async (context, next) => {
      try {
        context.set('identity', await find(context.req.raw));
      } catch (error) {
        if (error instanceof Refusal) return error.response;
        throw error;
      }
      return next();
    };

  return {
    requireSession: () => middleware(verifier.requireSession),
    requireRole: (role) => middleware((request) => verifier.requireRole(request, role)),
    requireScope: (scope) => middleware((request) => verifier.requireScope(request, scope)),
    findSession: () => middleware(verifier.findSession),
  };
}
