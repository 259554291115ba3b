/** Sign-in through OpenID providers, and the identities that people have linked. */
import type { Module, ModuleContext } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import type { PageBrowserOf } from '../sign-in/known-browsers.ts';
import { flowCookie } from './flow-cookie.ts';
import { providerRoutes } from './routes.ts';
import { type Provider, providerService } from './service.ts';

export interface ProviderStandsOn {
  readonly sessions: Sessions;
  readonly setSignInCookies: SetSignInCookies;
  readonly pageBrowserOf: PageBrowserOf;
}

export function providerModule(
  context: ModuleContext,
  { sessions, setSignInCookies, pageBrowserOf }: ProviderStandsOn,
): Module & { readonly service: Provider } {
  const { baseUrl, random } = context;
  const service = providerService({ ...context, sessions });
  return {
    service,
    operations: providerRoutes({
      ...service,
      flowCookie: flowCookie(baseUrl(), random),
      setSignInCookies,
      pageBrowserOf,
    }),
  };
}
