/** What OAuth clients and libraries look for: the metadata of the server, introspection and revocation of tokens. */
import type { Module, World } from '../module.ts';
import { oauthRoutes } from './routes.ts';
import { type TokenDependencies, tokenService } from './service.ts';

export function oauthModule({ baseUrl }: World, services: Omit<TokenDependencies, 'baseUrl'>): Module {
  return { operations: oauthRoutes({ tokens: tokenService({ ...services, baseUrl }), baseUrl }) };
}
