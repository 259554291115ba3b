import type { Static } from '@sinclair/typebox';
import { whenReady, whenReadyWith } from '../../core/maybe-promise.ts';
import { JsonText } from '../../http/json-text.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import {
  type Includable,
  KeyVerification,
  MeMemberships,
  MeQuery,
  MeRoles,
  MeScopes,
  SessionVerification,
  VerifyInput,
} from './model.ts';
import type { Verification } from './service.ts';
import type { AcceptedVerdict, Verdict } from './verdict.ts';

interface VerifyCall {
  readonly context: RequestContext;
  readonly body: Static<typeof VerifyInput>;
}

export function verificationRoutes(verification: Verification): Operation[] {
  function answerTo(verdict: Verdict, { context, body: { include } }: VerifyCall) {
    context.isTokenRefused = !verdict.ok;
    return verdict.ok && include !== undefined && include.length > 0 ? withMore(verdict, include) : answerOf(verdict);
  }

  function withMore(verdict: AcceptedVerdict, include: readonly Includable[]) {
    return whenReady(verification.included(verdict, include), (more) => accepted(verdict, more));
  }

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
      handle: ({ principal }) => new JsonText(principal.identity.within('{"ok":true,', '}')),
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
      handle: (call) => whenReadyWith(verification.verify(call.principal, call.body.token), call, answerTo),
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

const BEFORE = '{"success":true,"data":{';

const answerOf = (verdict: Verdict) =>
  verdict.ok
    ? new JsonText<Static<typeof KeyVerification>>(verdict.subject.within(BEFORE, '}}'))
    : { success: false as const, errorMessage: verdict.error };

/** Keeps the text that answers without `include` share. @param more JSON members. */
const accepted = ({ subject }: AcceptedVerdict, more: string) =>
  new JsonText<Static<typeof KeyVerification>>(`${subject.within(BEFORE, '}}').slice(0, -2)}${more}}}`);
