/** Grants of an application: roles, scopes and membership groups. */
import type { Module, World } from '../module.ts';
import { grantRoutes } from './routes.ts';
import { grantService } from './service.ts';
import { announceRename, withdrawGrant } from './background-tasks.ts';

export type GrantServices = ReturnType<typeof grantServices>;

function grantServices({ db }: World) {
  return {
    roles: grantService('roles', db),
    scopes: grantService('scopes', db),
    memberships: grantService('memberships', db),
  };
}

export function grantsModule(world: World): Module & { readonly service: GrantServices } {
  const service = grantServices(world);
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
