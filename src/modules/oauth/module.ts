/** Serves OAuth clients: token introspection and token revocation. */
import type { Module, ModuleContext } from '../module.ts';
import { oauthRoutes } from './routes.ts';
import { type TokenDependencies, tokenService } from './service.ts';

export function oauthModule(
  context: ModuleContext,
  services: Omit<TokenDependencies, 'db' | 'clock' | 'baseUrl'>,
): Module {
  return { operations: oauthRoutes({ tokens: tokenService({ ...context, ...services }) }) };
}
