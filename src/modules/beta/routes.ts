/** Beta access: the sign-in gate, the allowlist, and what a stranger may ask and see. */
import { matchesEtag } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { ApplicationSchema } from '../applications/model.ts';
import {
  AccessInterestInput,
  ApproveInput,
  BetaAdded,
  BetaAddInput,
  BetaInterestSchema,
  BetaInterestPage,
  BetaQuery,
  DeclineInput,
  GateInput,
  InterestReceived,
  PolicyInput,
  PolicyResult,
  PublicState,
  BetaInterestRemoved,
} from './model.ts';
import type { Beta } from './service.ts';

/** @param limitInterest counts a request against its e-mail. @throws {AppError} rate_limited */
export function betaRoutes(beta: Beta, limitInterest: (email: string, context: RequestContext) => void): Operation[] {
  const admin = { tag: 'Beta access', access: 'full', scope: 'application', limit: 'key' } as const;
  const anyone = { tag: 'Beta access', access: 'none', scope: 'instance' } as const;
  const list = '/api/applications/:id/beta-interests';
  return [
    operation({
      ...admin,
      id: 'setSigninGate',
      method: 'POST',
      path: '/api/applications/:id/signin-gate',
      summary: 'Set the sign-in gate, effective at once for every method',
      description: 'Opening to `public` tells everybody who waits, once.',
      body: GateInput,
      data: ApplicationSchema,
      handle: ({ actor, application, body }) => beta.setGate(actor, application, body.gate),
    }),
    operation({
      ...admin,
      id: 'listBetaInterests',
      method: 'GET',
      path: list,
      summary: 'List the allowlist, newest first',
      query: BetaQuery,
      data: BetaInterestPage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => beta.list(application, query),
    }),
    operation({
      ...admin,
      id: 'addBetaInterests',
      method: 'POST',
      path: list,
      summary: 'Add addresses to the allowlist',
      description: 'All or nothing. A single address is approved; an approved row is never demoted.',
      body: BetaAddInput,
      data: BetaAdded,
      handle: ({ actor, application, body }) => beta.add(actor, application, body),
    }),
    operation({
      ...admin,
      id: 'approveBetaInterest',
      method: 'POST',
      path: `${list}/:interestId/approve`,
      summary: 'Approve; again changes nothing',
      body: ApproveInput,
      isBodyOptional: true,
      data: BetaInterestSchema,
      handle: ({ actor, application, params, body }) =>
        beta.approve(actor, application, params.interestId, body.notify ?? false),
    }),
    operation({
      ...admin,
      id: 'declineBetaInterest',
      method: 'POST',
      path: `${list}/:interestId/decline`,
      summary: 'Decline; the row is kept for the record',
      body: DeclineInput,
      isBodyOptional: true,
      data: BetaInterestSchema,
      handle: ({ actor, application, params, body }) =>
        beta.decline(actor, application, params.interestId, body.soft ?? false),
    }),
    operation({
      ...admin,
      id: 'deleteBetaInterest',
      method: 'DELETE',
      path: `${list}/:interestId`,
      summary: 'Remove a row from the allowlist',
      data: BetaInterestRemoved,
      handle: ({ actor, application, params }) => beta.remove(actor, application, params.interestId),
    }),
    operation({
      ...admin,
      id: 'setBetaPolicy',
      method: 'POST',
      path: '/api/applications/:id/beta-policy',
      summary: 'Set how requests are decided, and decide the pending ones by it',
      body: PolicyInput,
      data: PolicyResult,
      handle: ({ actor, application, body }) => beta.setPolicy(actor, application, body),
    }),
    operation({
      ...anyone,
      id: 'expressAccessInterest',
      method: 'POST',
      path: '/api/applications/:id/public/access-interest',
      summary: 'Ask to be let in, or to be told when the application opens',
      description: 'The answer is the same whether or not the address is known.',
      limit: 'access_interest',
      body: AccessInterestInput,
      data: InterestReceived,
      errors: ['not_found', 'application_archived'],
      handle({ actor, params, body, context }) {
        limitInterest(body.email, context);
        return beta.receiveInterest(actor, params.id, body);
      },
    }),
    operation({
      ...anyone,
      id: 'getPublicState',
      method: 'GET',
      path: '/api/applications/:id/public/state',
      summary: 'Lifecycle and gate of an application, for the sign-in page',
      description: 'Cheap; sends an ETag and answers 304.',
      limit: 'none',
      data: PublicState,
      errors: ['not_found'],
      async handle({ params, context }) {
        const state = await beta.publicState(params.id);
        const etag = `"${Bun.hash(JSON.stringify(state)).toString(36)}"`;
        context.headers['ETag'] = etag;
        context.headers['Cache-Control'] = 'no-cache';
        if (!matchesEtag(context.request.headers.get('if-none-match'), etag)) return state;
        return new Response(null, { status: 304, headers: context.headers });
      },
    }),
  ];
}
