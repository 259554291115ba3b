import { requestedLocale } from '../../core/locale.ts';
import { matchesEtag } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { MailStanding } from '../../mail/workspace-mail.ts';
import type { Application } from '../../store/applications.ts';
import { ApplicationSchema } from '../applications/model.ts';
import {
  AccessInterestInput,
  AccessState,
  AccessStateInput,
  ApproveInput,
  BetaAdded,
  BetaAddInput,
  BetaCounts,
  BetaDecided,
  BetaInterestSchema,
  BetaInterestPage,
  BetaQuery,
  DecideInput,
  DeclineInput,
  GateInput,
  InterestReceived,
  PolicyInput,
  PolicyResult,
  PublicState,
  BetaInterestRemoved,
} from './model.ts';
import type { Beta } from './service.ts';
import type { WaitlistStandings } from './standing.ts';

export interface BetaRouteDependencies {
  readonly beta: Beta;
  /** Counts a request against its e-mail address. @throws {AppError} rate_limited */
  readonly limitInterest: (email: string, context: RequestContext) => Promise<void>;
  readonly standings: WaitlistStandings;
  /** Counts a read of a standing. @throws {AppError} rate_limited */
  readonly limitStanding: (applicationId: string, email: string, context: RequestContext) => Promise<void>;
  /** Returns the hourly mail limit of the application's workspace. */
  readonly mailStanding: (application: Application) => Promise<MailStanding>;
}

export function betaRoutes(dependencies: BetaRouteDependencies): Operation[] {
  const { beta, limitInterest, standings, limitStanding, mailStanding } = dependencies;
  /** Adds the remaining mail limit to the response headers after the work. */
  async function announced<Result>(
    work: Promise<Result>,
    application: Application,
    { headers }: RequestContext,
  ): Promise<Result> {
    const result = await work;
    announceLimit(headers, await mailStanding(application));
    return result;
  }

  const admin = { tag: 'Beta access', access: 'full', scope: 'application', limit: 'key' } as const;
  const mailing = { ...admin, limit: 'key_mail' } as const;
  const anyone = { tag: 'Beta access', access: 'none', scope: 'instance' } as const;
  const list = '/api/applications/:id/beta-interests';
  return [
    operation({
      ...mailing,
      id: 'setSigninGate',
      method: 'POST',
      path: '/api/applications/:id/signin-gate',
      summary: 'Set the sign-in gate, effective at once for every method',
      danger: 'Closing it refuses people who may sign in now; opening it lets everybody in and mails all who wait.',
      description:
        'Opening to `public` mails everybody on the waitlist, once, within the hourly mail budget (`pendingWork` shows progress).',
      body: GateInput,
      data: ApplicationSchema,
      handle: ({ actor, application, body, context }) =>
        announced(beta.setGate(actor, application, body.gate), application, context),
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
      access: 'read',
      id: 'countBetaInterests',
      method: 'GET',
      path: `${list}/counts`,
      summary: 'Count the allowlist entries by state',
      data: BetaCounts,
      handle: ({ application }) => beta.counts(application),
    }),
    operation({
      ...admin,
      id: 'addBetaInterests',
      method: 'POST',
      path: list,
      summary: 'Add addresses to the allowlist',
      gives: { words: 'Whoever is approved can sign in to the private beta.' },
      description: 'All or nothing. A single address is approved; an approved entry is never demoted.',
      body: BetaAddInput,
      data: BetaAdded,
      handle: ({ actor, application, body }) => beta.add(actor, application, body),
    }),
    operation({
      ...mailing,
      id: 'decideBetaInterests',
      method: 'POST',
      path: `${list}/decide`,
      summary: 'Approve or decline up to 200 entries',
      danger: 'Decides all of them at once and may mail them, which cannot be undone.',
      description:
        'Equals the call for one entry; one outcome per entry, in order. If the workspace has no mails left this hour, entries that need one are `refused` and unchanged. Not atomic: repeat an interrupted call.',
      body: DecideInput,
      data: BetaDecided,
      handle: ({ actor, application, body, context }) =>
        announced(beta.decideMany(actor, application, body), application, context),
    }),
    operation({
      ...mailing,
      id: 'approveBetaInterest',
      method: 'POST',
      path: `${list}/:interestId/approve`,
      summary: 'Approve an entry; repeating it changes nothing',
      gives: { words: 'They can sign in to the private beta from then on.' },
      body: ApproveInput,
      isBodyOptional: true,
      data: BetaInterestSchema,
      handle: ({ actor, application, params, body, context }) =>
        announced(beta.approve(actor, application, params.interestId, body.notify), application, context),
    }),
    operation({
      ...mailing,
      id: 'declineBetaInterest',
      method: 'POST',
      path: `${list}/:interestId/decline`,
      summary: 'Decline an entry; it is kept for the record',
      body: DeclineInput,
      isBodyOptional: true,
      data: BetaInterestSchema,
      handle: ({ actor, application, params, body, context }) =>
        announced(beta.decline(actor, application, params.interestId, body.soft ?? false), application, context),
    }),
    operation({
      ...admin,
      id: 'deleteBetaInterest',
      method: 'DELETE',
      path: `${list}/:interestId`,
      summary: 'Remove an entry from the allowlist',
      data: BetaInterestRemoved,
      handle: ({ actor, application, params }) => beta.remove(actor, application, params.interestId),
    }),
    operation({
      ...mailing,
      id: 'setBetaPolicy',
      method: 'POST',
      path: '/api/applications/:id/beta-policy',
      summary: 'Set how requests are decided, and apply it to the pending ones',
      danger: 'Decides every pending request and may mail its sender, which cannot be undone.',
      description:
        'All are decided at once; mails follow within the hourly mail budget (`pendingWork` of the application shows progress).',
      body: PolicyInput,
      data: PolicyResult,
      handle: ({ actor, application, body, context }) =>
        announced(beta.setPolicy(actor, application, body), application, context),
    }),
    operation({
      ...anyone,
      id: 'expressAccessInterest',
      method: 'POST',
      path: '/api/applications/:id/public/access-interest',
      summary: 'Request access, or a notice when the application opens',
      description: 'The answer is the same whether or not the address is known.',
      limit: 'access_interest',
      body: AccessInterestInput,
      data: InterestReceived,
      errors: ['not_found', 'application_archived'],
      async handle({ actor, params, body, context }) {
        await limitInterest(body.email, context);
        const locale = requestedLocale(body.locale, context.request.headers.get('accept-language'));
        return beta.receiveInterest(actor, params.id, { ...body, locale });
      },
    }),
    operation({
      ...anyone,
      id: 'readAccessState',
      method: 'POST',
      path: '/api/applications/:id/public/access-state',
      summary: 'Read where the request of a proved address stands',
      description:
        'For a page that waits for the decision. A refused sign-in by code gives the ticket, which lasts a day and allows nothing else.',
      limit: 'access_state',
      isNoTool: true,
      body: AccessStateInput,
      data: AccessState,
      errors: ['code_expired'],
      async handle({ params, body, context }) {
        const email = standings.requireTicket(params.id, body);
        await limitStanding(params.id, email, context);
        return standings.standingOf(params.id, email);
      },
    }),
    operation({
      ...anyone,
      id: 'getPublicState',
      method: 'GET',
      path: '/api/applications/:id/public/state',
      summary: 'Read the lifecycle and gate of an application, for the sign-in page',
      description: 'Cheap to poll.',
      isRevalidated: true,
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
