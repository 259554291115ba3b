/** Sign-in through OpenID providers, wired together: clients, what providers publish, the flow, and people's identities. */
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import type { Clock } from '../../core/clock.ts';
import { waysInService } from '../account/ways-in.ts';
import { type ProviderClientDependencies, providerClientService } from './clients.ts';
import { providerDirectory } from './directory.ts';
import { codeExchange } from './exchange.ts';
import { providerFlow, type ProviderFlowDependencies } from './flow.ts';
import { identityService } from './identities.ts';

type Wired = 'clients' | 'directory' | 'exchange' | 'returnRules' | 'redirectUri';

export interface ProviderDependencies
  extends Omit<ProviderFlowDependencies, Wired>, Omit<ProviderClientDependencies, 'redirectUri'> {
  readonly clock: Clock;
  readonly outbound: GuardedFetch;
  readonly baseUrl: () => string;
  /** Any address on loopback is a return URL, as in instances for tests. */
  readonly isLoopbackOpen: boolean;
}

const CALLBACK_PATH = '/api/auth/google/callback';

export function providerService(dependencies: ProviderDependencies) {
  const { baseUrl, isLoopbackAllowed, isLoopbackOpen } = dependencies;
  const redirectUri = () => baseUrl() + CALLBACK_PATH;
  const clients = providerClientService({ ...dependencies, redirectUri });
  const directory = providerDirectory(dependencies);
  const exchange = codeExchange({ ...dependencies, directory, redirectUri });
  const returnRules = { baseUrl, isLoopbackAllowed, isLoopbackOpen };
  const waysIn = waysInService(clients.issuersOf);
  return {
    clients,
    waysIn,
    flow: providerFlow({ ...dependencies, clients, directory, exchange, returnRules, redirectUri }),
    identities: identityService({ ...dependencies, waysIn }),
  };
}
