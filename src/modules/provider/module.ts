/** Sign-in through OpenID providers, and the identities that people have connected. */
import type { Module, World } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { KeepConsoleSession } from '../sign-in/console-session.ts';
import { flowCookie } from './flow-cookie.ts';
import { providerRoutes } from './routes.ts';
import { type Provider, providerService } from './service.ts';

export interface ProviderStandsOn {
  readonly sessions: Sessions;
  readonly keepConsoleSession: KeepConsoleSession;
}

export function providerModule(
  world: World,
  { sessions, keepConsoleSession }: ProviderStandsOn,
): Module & { readonly service: Provider } {
  const { baseUrl, random } = world;
  const service = providerService({ ...world, sessions });
  return {
    service,
    operations: providerRoutes({ ...service, flowCookie: flowCookie(baseUrl(), random), keepConsoleSession }),
  };
}
