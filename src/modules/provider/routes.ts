import { type Operation, operation } from '../../http/operation.ts';
import { redirectResponse } from '../../http/page-response.ts';
import { RemovalQuery } from '../sign-in/model.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import type { PageBrowserOf } from '../sign-in/known-browsers.ts';
import type { ProviderClients } from './clients.ts';
import type { FlowCookie } from './flow-cookie.ts';
import type { ProviderFlow } from './flow.ts';
import type { ProviderIdentities } from './identities.ts';
import {
  CallbackQuery,
  IdentityPage,
  IdentityRemoved,
  LinkInput,
  LinkStarted,
  ProviderInput,
  ProviderRecordSchema,
  StartQuery,
} from './model.ts';

export interface ProviderRouteDependencies {
  readonly clients: ProviderClients;
  readonly flow: ProviderFlow;
  readonly identities: ProviderIdentities;
  readonly flowCookie: FlowCookie;
  readonly setSignInCookies: SetSignInCookies;
  readonly pageBrowserOf: PageBrowserOf;
}

export function providerRoutes(dependencies: ProviderRouteDependencies): Operation[] {
  return [...flowRoutes(dependencies), ...accountProviderRoutes(dependencies), ...clientRoutes(dependencies.clients)];
}

function flowRoutes({ flow, flowCookie, setSignInCookies, pageBrowserOf }: ProviderRouteDependencies): Operation[] {
  const common = {
    method: 'GET',
    tag: 'Sign-in',
    access: 'none',
    scope: 'instance',
    style: 'page',
    isRedirect: true,
  } as const;
  return [
    operation({
      ...common,
      id: 'startProviderSignIn',
      path: '/api/auth/google/start',
      summary: 'Send the browser to the identity provider',
      description: 'For browsers: answers 302, or a page that explains the error.',
      limit: 'provider',
      query: StartQuery,
      errors: [
        'not_found',
        'application_archived',
        'forbidden',
        'invalid_state',
        'provider_failed',
        'unavailable',
        'internal',
      ],
      async handle({ actor, query, context }) {
        const browser = flowCookie.readOrMint(context.request);
        const acceptLanguage = context.request.headers.get('accept-language');
        const location = await flow.start(actor, query, { browser, acceptLanguage });
        context.cookies.push(flowCookie.write(browser));
        return redirectResponse(context, location);
      },
    }),
    operation({
      ...common,
      id: 'finishProviderSignIn',
      path: '/api/auth/google/callback',
      summary: 'Receive the browser from the identity provider',
      description:
        'For browsers: answers 302 to `returnTo#token=…&expiresAt=…` or `returnTo#error=<code>` (for a draft with an `error_description` that names the calls to open it), or a page if there is no safe address to return to.',
      limit: 'none',
      query: CallbackQuery,
      errors: ['invalid_state', 'provider_failed', 'unavailable', 'internal'],
      async handle({ actor, query, context }) {
        const { request } = context;
        const browser = flowCookie.read(request);
        const userAgent = request.headers.get('user-agent');
        const pageBrowser = pageBrowserOf(request);
        const landing = await flow.callback(actor, { query, browser, userAgent, pageBrowser });
        const { location, session, isByHolder } = landing;
        if (session) await setSignInCookies(context, actor, session, { landing: location, isByHolder });
        return redirectResponse(context, location);
      },
    }),
  ];
}

function accountProviderRoutes({ flow, identities, flowCookie }: ProviderRouteDependencies): Operation[] {
  const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;
  return [
    operation({
      ...common,
      id: 'listProviderIdentities',
      method: 'GET',
      path: '/api/account/providers',
      summary: 'List my connected identity providers',
      data: IdentityPage,
      handle: ({ principal }) => identities.list(principal),
    }),
    operation({
      ...common,
      id: 'linkProviderIdentity',
      method: 'POST',
      path: '/api/account/providers',
      summary: 'Start connecting an identity provider; needs a fresh session',
      description: 'Sets a cookie that the browser must send with the callback.',
      body: LinkInput,
      isBodyOptional: true,
      data: LinkStarted,
      errors: ['application_archived', 'invalid_state', 'reauthentication_required', 'provider_failed', 'unavailable'],
      async handle({ actor, principal, body, context }) {
        const browser = flowCookie.readOrMint(context.request);
        const authorizationUrl = await flow.link(actor, principal, body, browser);
        context.cookies.push(flowCookie.write(browser));
        return { authorizationUrl };
      },
    }),
    operation({
      ...common,
      id: 'unlinkProviderIdentity',
      method: 'DELETE',
      path: '/api/account/providers/:identityId',
      summary: 'Disconnect an identity provider; needs a fresh session',
      description:
        'Removing the last sign-in method for an application needs `force`. Outside the console, an identity that is valid in all workspaces needs a proof (`POST /api/account/proof`). Sessions made with it end, including this one if it was; `endAllSessions=true` ends all others as well.',
      query: RemovalQuery,
      data: IdentityRemoved,
      errors: ['not_found', 'invalid_state', 'reauthentication_required'],
      handle: ({ actor, principal, params, query }) => identities.remove(actor, principal, params.identityId, query),
    }),
  ];
}

function clientRoutes(clients: ProviderClients): Operation[] {
  const common = {
    tag: 'Identity provider',
    scope: 'application',
    limit: 'key',
    path: '/api/applications/:id/identity-provider',
    data: ProviderRecordSchema,
  } as const;
  return [
    operation({
      ...common,
      id: 'getIdentityProvider',
      method: 'GET',
      summary: 'Read the identity provider of an application',
      description: 'The application’s own, else the instance’s. The secret is never returned.',
      access: 'read',
      handle: ({ application }) => clients.describe(application),
    }),
    operation({
      ...common,
      id: 'setIdentityProvider',
      method: 'PUT',
      summary: 'Set the application’s own client at an OpenID Connect provider',
      gives: { words: 'Whoever this provider vouches for can sign in as the person it names.' },
      description:
        'With `speaksFor` `workspace` it proves addresses in this workspace only. People known to or listed ' +
        'by another workspace connect it after a code (`link_required`). A client that is neither at Google ' +
        'nor the instance’s own needs a key of the whole workspace or one of its admins.',
      access: 'full',
      body: ProviderInput,
      handle: ({ actor, principal, application, body }) => clients.configure(actor, principal, application, body),
    }),
    operation({
      ...common,
      id: 'removeIdentityProvider',
      method: 'DELETE',
      summary: 'Remove the application’s own client and use the instance’s, if it has one',
      access: 'full',
      handle: ({ actor, application }) => clients.unconfigure(actor, application),
    }),
  ];
}
