/** Token introspection, which threads answer too. */
import { type Operation, operation } from '../../http/operation.ts';
import { Introspection, TokenInput } from './model.ts';
import type { Introspect } from './service.ts';

export const INTROSPECTION_PATH = '/api/v1/introspect';

/** Parts of operations for OAuth clients. */
export const BY_CLIENTS = {
  tag: 'OAuth',
  scope: 'instance',
  method: 'POST',
  limit: 'client',
  style: 'oauth',
  isFormAccepted: true,
} as const;

export function introspectionRoute(introspect: Introspect): Operation {
  return operation({
    ...BY_CLIENTS,
    id: 'introspectToken',
    path: INTROSPECTION_PATH,
    summary: 'Introspect a token (RFC 7662)',
    description:
      'Live, like `/api/v1/verify`. `active` is false, without a reason, for a token that is not valid now or belongs to another application.',
    access: 'client',
    body: TokenInput,
    data: Introspection,
    handle: ({ principal, body }) => introspect(principal, body.token),
  });
}
