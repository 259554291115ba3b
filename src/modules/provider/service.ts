/** Wires sign-in through OpenID providers: clients, relying party, flow and identities. */
import { lastMethodGuard } from '../sign-in/last-method.ts';
import { type ProviderClientDependencies, providerClientService } from './clients.ts';
import { providerFlow, type ProviderFlowDependencies } from './flow.ts';
import { providerIdentityService } from './identities.ts';
import { relyingParty, type RelyingPartyDependencies } from './relying-party.ts';

type Wired = 'clients' | 'relyingParty' | 'returnRules';

export interface ProviderDependencies
  extends
    Omit<ProviderFlowDependencies, Wired>,
    Omit<ProviderClientDependencies, 'redirectUri'>,
    Omit<RelyingPartyDependencies, 'redirectUri'> {
  readonly baseUrl: () => string;
  /** Allows any loopback address as return URL, for test instances. */
  readonly isLoopbackOpen: boolean;
}

const CALLBACK_PATH = '/api/auth/google/callback';

export type Provider = ReturnType<typeof providerService>;

/** Calls no provider before the first flow. */
export function providerService(dependencies: ProviderDependencies) {
  const { baseUrl, isLoopbackAllowed, isLoopbackOpen } = dependencies;
  const redirectUri = () => baseUrl() + CALLBACK_PATH;
  const clients = providerClientService({ ...dependencies, redirectUri });
  const party = relyingParty({ ...dependencies, redirectUri });
  const returnRules = { baseUrl, isLoopbackAllowed, isLoopbackOpen };
  const guard = lastMethodGuard(clients.usableIdentities);
  return {
    clients,
    lastMethodGuard: guard,
    flow: providerFlow({ ...dependencies, clients, relyingParty: party, returnRules }),
    identities: providerIdentityService({
      ...dependencies,
      notices: dependencies.sessions.notices,
      lastMethodGuard: guard,
    }),
  };
}
