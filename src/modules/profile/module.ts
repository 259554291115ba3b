/** People's own profiles: names, region, addresses, legal entities and languages. */
import type { Module, ModuleContext } from '../module.ts';
import { profileRoutes } from './routes.ts';
import { profileService } from './service.ts';

export function profileModule(context: ModuleContext): Module {
  return { operations: profileRoutes(profileService(context)) };
}
