/** Grants of an application: roles, scopes and membership groups. */
import type { Module, ModuleContext } from '../module.ts';
import { grantRoutes } from './routes.ts';
import { grantService } from './service.ts';
import { announceRename, withdrawGrant } from './background-tasks.ts';

export type GrantServices = ReturnType<typeof grantServices>;

function grantServices({ db }: ModuleContext) {
  return {
    roles: grantService('roles', db),
    scopes: grantService('scopes', db),
    memberships: grantService('memberships', db),
  };
}

export function grantsModule(context: ModuleContext): Module & { readonly service: GrantServices } {
  const service = grantServices(context);
  return {
    service,
    operations: [
      ...grantRoutes('roles', service.roles),
      ...grantRoutes('scopes', service.scopes),
      ...grantRoutes('memberships', service.memberships),
    ],
    tasks: [announceRename, withdrawGrant],
  };
}
