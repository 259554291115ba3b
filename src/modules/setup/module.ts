import { sessionCookie } from '../../http/session-cookie.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { Workspaces } from '../workspace/service.ts';
import { setupRoutes } from './routes.ts';
import { type Setup, setupService } from './service.ts';

export interface SetupStandsOn {
  readonly workspaces: Workspaces;
  readonly sessions: Sessions;
}

export function setupModule(context: ModuleContext, standsOn: SetupStandsOn): Module & { readonly service: Setup } {
  const service = setupService({ ...context, ...standsOn });
  return { service, operations: setupRoutes({ setup: service, cookie: sessionCookie(context.baseUrl()) }) };
}
