/** The OpenID provider: sign-in for other programs by OAuth 2.0 and OpenID Connect. */
import type { Module, ModuleContext } from '../module.ts';
import { type OAuthClients, oauthClients } from './clients.ts';

export interface OpenIdModule extends Module {
  readonly clients: OAuthClients;
}

export function openidModule(context: ModuleContext): OpenIdModule {
  const clients = oauthClients(context);
  return { clients, operations: [] };
}
