/** Functions for `resolve` of Elysia, which adds what they return to the context of the routes that follow. */
import { createVerifier, type Identity, type IncomingRequest, Refusal, type VerifierOptions } from './gatehouse.ts';

type Resolver<Person> = (context: { readonly request: Request }) => Promise<{ identity: Person }>;

/** Each answers 401, 403, 429 or 503 itself, unless it admits the caller. */
export interface Gatehouse<Role extends string = string, Scope extends string = string> {
  /** Admits whoever has a valid session or key. */
  requireSession(): Resolver<Identity<Role, Scope>>;
  /** Admits whoever has one of the roles too. */
  requireRole(role: Role | readonly Role[]): Resolver<Identity<Role, Scope>>;
  /** Admits whoever has one of the scopes too. */
  requireScope(scope: Scope | readonly Scope[]): Resolver<Identity<Role, Scope>>;
  /** Admits everybody; the identity is null without a valid session. */
  findSession(): Resolver<Identity<Role, Scope> | null>;
}

/** @throws {TypeError} for a wrong set-up, naming the option to set. */
export function gatehouse<Role extends string = string, Scope extends string = string>(
  options: VerifierOptions,
): Gatehouse<Role, Scope> {
  const verifier = createVerifier<Role, Scope>(options);

  const resolver =
    <Person>(find: (request: IncomingRequest) => Promise<Person>): Resolver<Person> =>
    async ({ request }) => {
      try {
        return { identity: await find(request) };
      } catch (error) {
        // Elysia sends what a thrown error's `toResponse` returns.
        if (error instanceof Refusal) Object.assign(error, { toResponse: () => error.response });
        throw error;
      }
    };

  return {
    requireSession: () => resolver(verifier.requireSession),
    requireRole: (role) => resolver((request) => verifier.requireRole(request, role)),
    requireScope: (scope) => resolver((request) => verifier.requireScope(request, scope)),
    findSession: () => resolver(verifier.findSession),
  };
}
