/** Registration of clients by themselves (RFC 7591): public clients of the console, such as agents that speak MCP. */
import type { Actor } from '../../core/actor.ts';
import { SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Database } from '../../db/database.ts';
import { requireConsole } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { insertRegisteredClient } from '../../store/oauth-clients.ts';
import { REGISTRATION_LIFETIME_MS } from './console-exchange.ts';
import { CODE_GRANT_TYPE, type Registration, type RegistrationInput } from './model.ts';
import { redirectProblem } from './redirect-uris.ts';

export interface RegistrationDependencies {
  readonly db: Database;
  /** Whether the operator lets clients register. */
  readonly isRegistrationOn: boolean;
}

export type ClientRegistration = ReturnType<typeof clientRegistration>;

export function clientRegistration({ db, isRegistrationOn }: RegistrationDependencies) {
  /**
   * Registers a client. Other metadata than its name and addresses is replaced by what is supported (RFC 7591 §3.2.1).
   *
   * @throws {AppError} not_found where it is switched off, invalid_redirect_uri
   */
  return async (
    actor: Actor,
    { redirect_uris: redirectUris, client_name }: RegistrationInput,
  ): Promise<Registration> => {
    if (!isRegistrationOn) throw new AppError('not_found');
    const fields = redirectUris.flatMap((uri, index) => {
      const message = redirectProblem(uri, { isLoopbackAllowed: true });
      return message === null ? [] : [{ path: `redirect_uris.${index}`, message }];
    });
    if (fields.length > 0) throw new AppError('invalid_redirect_uri', { fields });
    const name = client_name?.trim() || null;
    const { clientId, at } = await db.write(actor, async (unit) => {
      const { id: applicationId } = await requireConsole(unit);
      const clientId = newId('client', unit.now);
      await insertRegisteredClient(unit, {
        clientId,
        applicationId,
        name,
        kind: 'registered',
        redirectUris,
        postLogoutRedirectUris: [],
        idTokenAlg: 'RS256',
        jwks: null,
        expiresAt: unit.now + REGISTRATION_LIFETIME_MS,
      });
      await recordAudit(unit, {
        kind: 'openid.client_registered',
        applicationId,
        targetId: clientId,
        detail: { ...(name !== null && { name }), redirectUris },
      });
      return { clientId, at: unit.now };
    });
    return {
      client_id: clientId,
      client_id_issued_at: Math.floor(at / SECOND),
      ...(name !== null && { client_name: name }),
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
      grant_types: [CODE_GRANT_TYPE],
      response_types: ['code'],
    };
  };
}
