/** Management of an application's users. */
import type { Module, World } from '../module.ts';
import { manyUsers } from './many.ts';
import { userRoutes } from './routes.ts';
import { type Users, userService } from './service.ts';

export function usersModule(world: World): Module & { readonly service: Users } {
  const service = userService(world);
  return { service, operations: userRoutes(service, manyUsers(world.db)) };
}
