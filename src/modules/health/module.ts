/** Whether this instance is alive, and ready to serve. */
import type { Module, World } from '../module.ts';
import { healthRoutes } from './routes.ts';

export function healthModule(world: World): Module {
  return { operations: healthRoutes(world) };
}
