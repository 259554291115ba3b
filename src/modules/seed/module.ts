/** Applies seed files, which declare an instance's contents. */
import type { Module, ModuleContext } from '../module.ts';
import { seedRoutes } from './routes.ts';
import { type Seed, seedService, type SeedTools } from './service.ts';

export type SeedStandsOn = Pick<
  SeedTools,
  'applications' | 'beta' | 'clients' | 'grants' | 'openid' | 'imports' | 'webhooks' | 'apiKeys'
>;

export function seedModule(context: ModuleContext, standsOn: SeedStandsOn): Module & { readonly service: Seed } {
  const service = seedService({ ...context, ...standsOn });
  return { service, operations: seedRoutes(service) };
}
