/** Serves OAuth clients: token introspection and token revocation. */
import type { Module, ModuleContext } from '../module.ts';
import { oauthRoutes } from './routes.ts';
import { type TokenDependencies, tokenService } from './service.ts';

export function oauthModule({ baseUrl }: ModuleContext, services: Omit<TokenDependencies, 'baseUrl'>): Module {
  return { operations: oauthRoutes({ tokens: tokenService({ ...services, baseUrl }) }) };
}
