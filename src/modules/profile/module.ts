/** People's own profiles: names, region, addresses, legal entities and languages. */
import type { Module, World } from '../module.ts';
import { profileRoutes } from './routes.ts';
import { profileService } from './service.ts';

export function profileModule(world: World): Module {
  return { operations: profileRoutes(profileService(world)) };
}
