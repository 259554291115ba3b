import { JsonText } from '../../http/json-text.ts';
import { type Operation, operation } from '../../http/operation.ts';
import {
  KeyVerification,
  MeMemberships,
  MeQuery,
  MeRoles,
  MeScopes,
  SessionVerification,
  VerifyInput,
} from './model.ts';
import type { Verification } from './service.ts';

export function verificationRoutes(verification: Verification): Operation[] {
  return [
    operation({
      id: 'verifySession',
      method: 'POST',
      path: '/api/v1/session',
      summary: 'Verify the session token sent as the bearer',
      description: 'Live: a ban, pause, deletion or sign-out takes effect at the next call.',
      tag: 'Verification',
      access: 'token',
      scope: 'instance',
      limit: 'session',
      style: 'session',
      data: SessionVerification,
      handle: ({ principal }) => new JsonText(`{"ok":true,${principal.identity.members}}`),
    }),
    operation({
      id: 'verifyToken',
      method: 'POST',
      path: '/api/v1/verify',
      summary: 'Verify a session token or API key, for backends',
      description:
        'Answers 200 with a verdict on `token`. A key sees only its own tenants: any other token is `invalid_token`, as if unknown. `errorMessage` reports the token, the caller’s key or its limit; every other problem of a call is reported as `error`.',
      tag: 'Verification',
      access: 'key',
      scope: 'instance',
      limit: 'key',
      style: 'verify',
      body: VerifyInput,
      data: KeyVerification,
      async handle({ principal, body }) {
        const verdict = await verification.verify(principal, body.token);
        return verdict.ok
          ? new JsonText(`{"success":true,"data":{${verdict.identity.members}}}`)
          : { success: false as const, errorMessage: verdict.error };
      },
    }),
    operation({
      id: 'listMyRoles',
      method: 'GET',
      path: '/api/me/roles',
      summary: 'List the caller’s role slugs, live',
      tag: 'Verification',
      access: 'person',
      scope: 'instance',
      limit: 'session',
      query: MeQuery,
      data: MeRoles,
      errors: ['not_found'],
      async handle({ principal, query }) {
        const { roles } = await verification.liveSlugs(principal, query.applicationId);
        return { roles };
      },
    }),
    operation({
      id: 'listMyScopes',
      method: 'GET',
      path: '/api/me/scopes',
      summary: 'List the caller’s scope slugs, live',
      tag: 'Verification',
      access: 'person',
      scope: 'instance',
      limit: 'session',
      query: MeQuery,
      data: MeScopes,
      errors: ['not_found'],
      async handle({ principal, query }) {
        const { scopes } = await verification.liveSlugs(principal, query.applicationId);
        return { scopes };
      },
    }),
    operation({
      id: 'listMyMemberships',
      method: 'GET',
      path: '/api/me/memberships',
      summary: 'List the slugs of the caller’s membership groups, live',
      tag: 'Verification',
      access: 'person',
      scope: 'instance',
      limit: 'session',
      query: MeQuery,
      data: MeMemberships,
      errors: ['not_found'],
      async handle({ principal, query }) {
        const { memberships } = await verification.liveSlugs(principal, query.applicationId);
        return { memberships };
      },
    }),
  ];
}
