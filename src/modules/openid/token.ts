/** The token endpoint: authenticates the client, and hands each grant to its service. */
import { AppError, invalidField } from '../../core/error.ts';
import type { Author } from '../../db/database.ts';
import { clientShown } from '../../http/client-credentials.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { DeviceAuthorization } from '../devices/authorization.ts';
import { DEVICE_GRANT_TYPE } from '../devices/model.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import type { codeExchange } from './exchange.ts';
import { CODE_GRANT_TYPE, REFRESH_GRANT_TYPE, type TokenAnswer, type TokenRequest } from './model.ts';
import type { tokenRefresh } from './refresh.ts';

export interface TokenEndpointDependencies {
  readonly authenticate: ClientAuthentication;
  readonly exchange: ReturnType<typeof codeExchange>;
  readonly refresh: ReturnType<typeof tokenRefresh>;
  readonly deviceAuthorization: Pick<DeviceAuthorization, 'redeem'>;
}

export type TokenEndpoint = ReturnType<typeof tokenEndpoint>;

export function tokenEndpoint({ authenticate, exchange, refresh, deviceAuthorization }: TokenEndpointDependencies) {
  /** A device has no credential of its own: its code is bound to the client. */
  async function redeem(author: Author, { request }: RequestContext, body: TokenRequest): Promise<TokenAnswer> {
    const shown = clientShown(request.headers.get('authorization'), body);
    const clientId = shown !== null && 'clientId' in shown ? shown.clientId : body.client_id;
    const input = {
      grant_type: DEVICE_GRANT_TYPE,
      device_code: parameterIn(body, 'device_code'),
      client_id: clientId || parameterIn(body, 'client_id'),
    };
    return { access_token: await deviceAuthorization.redeem(author, input), token_type: 'Bearer' };
  }

  return async (author: Author, context: RequestContext, body: TokenRequest): Promise<TokenAnswer> => {
    switch (body.grant_type) {
      case '':
        throw invalidField('grant_type', 'Give the grant_type.');
      case CODE_GRANT_TYPE: {
        const code = parameterIn(body, 'code');
        const { redirect_uri: redirectUri = '', code_verifier: codeVerifier = '' } = body;
        const deviceName = body.device_name?.trim() ?? '';
        return exchange(author, await authenticate(context, body), { code, redirectUri, codeVerifier, deviceName });
      }
      case REFRESH_GRANT_TYPE: {
        const refreshToken = parameterIn(body, 'refresh_token');
        return refresh(author, context, await authenticate(context, body), { refreshToken, scope: body.scope ?? '' });
      }
      case DEVICE_GRANT_TYPE:
        return redeem(author, context, body);
      default:
        throw new AppError('unsupported_grant_type');
    }
  };
}

/** @throws {AppError} invalid_request without the parameter, or with an empty one (RFC 6749 §3.1). */
function parameterIn(body: TokenRequest, name: 'code' | 'refresh_token' | 'device_code' | 'client_id'): string {
  const value = body[name];
  if (!value) throw invalidField(name, `Give the ${name}.`);
  return value;
}
