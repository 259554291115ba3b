import type { Reader } from '../../db/database.ts';
import { requireApplication } from '../../store/applications.ts';
import type { LeasedDelivery } from '../../store/delivery-claims.ts';
import { findOAuthClient } from '../../store/oauth-clients.ts';
import type { OpenIdTokens } from './id-token.ts';

export interface LogoutDeliveryDependencies {
  readonly reader: Reader;
  readonly tokens: Pick<OpenIdTokens, 'logoutToken'>;
}

/** Returns a function that makes the logout token of an attempt at a delivery, for the application's own client. */
export function logoutTokenOf({ reader, tokens }: LogoutDeliveryDependencies) {
  return async ({ applicationId, deliveryId, attempts, data }: LeasedDelivery): Promise<string> => {
    const { clientId } = await requireApplication(reader, applicationId);
    const client = await findOAuthClient(reader, clientId);
    const { userId, sessionId } = JSON.parse(data) as Record<'userId' | 'sessionId', string>;
    return tokens.logoutToken({
      client: { clientId, alg: client?.idTokenAlg ?? 'RS256' },
      userId,
      sessionId,
      // Receivers refuse an id that they have seen.
      jti: `${deliveryId}.${attempts}`,
    });
  };
}
