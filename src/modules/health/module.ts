/** Whether this instance is alive, ready to serve, and well. */
import type { Module, World } from '../module.ts';
import { instanceHealthService } from './instance.ts';
import { instanceHealthRoute } from './instance-route.ts';
import { healthRoutes } from './routes.ts';

export function healthModule(world: World): Module {
  return { operations: [...healthRoutes(world), instanceHealthRoute(instanceHealthService(world))] };
}
