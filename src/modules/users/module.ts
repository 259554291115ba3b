import type { Module, ModuleContext } from '../module.ts';
import { bulkChanges } from './bulk.ts';
import { userRoutes } from './routes.ts';
import { type Users, userService } from './service.ts';

export function usersModule(context: ModuleContext): Module & { readonly service: Users } {
  const service = userService(context);
  return { service, operations: userRoutes(service, bulkChanges(context.db)) };
}
