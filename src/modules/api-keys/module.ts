/** Keys of applications and of workspaces. */
import type { Module, World } from '../module.ts';
import { apiKeyRoutes } from './routes.ts';
import { type ApiKeys, apiKeyService } from './service.ts';
import { keyEndings } from './trails.ts';

export function apiKeysModule(world: World): Module & { readonly service: ApiKeys } {
  const service = apiKeyService(world);
  return { service, operations: apiKeyRoutes(service), kinds: [keyEndings] };
}
