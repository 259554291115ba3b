/** Which ways to sign in a page offers: those that the application allows and that this server can carry out. */

import { relyingPartyOf } from '../core/relying-party.ts';
import type { Application } from '../store/applications.ts';
import type { SignInOffer } from './sign-in-part.ts';

export interface WaysInDependencies {
  /** Where this server is reached, without a trailing slash. */
  readonly baseUrl: () => string;
  /** The identity provider that the application's people can use; null where none is configured. */
  readonly providerFor: (application: Application) => Promise<{ readonly name: string } | null>;
}

/** What the start of a provider's flow takes. */
const MAX_RETURN_LENGTH = 2000;

/** @param own this page's path and query, where the provider's flow comes back to. */
export async function waysInto(
  application: Application,
  { own, returnTo = null }: { own: string; returnTo?: string | null },
  { baseUrl, providerFor }: WaysInDependencies,
): Promise<SignInOffer> {
  const { signinMethods, clientId } = application;
  const provider = signinMethods.includes('provider') ? await providerFor(application) : null;
  // Back on this page a failure leaves the other ways open; a very long address can only go back directly.
  const page = baseUrl() + own;
  const back = page.length > MAX_RETURN_LENGTH && returnTo !== null ? returnTo : page;
  const start = new URLSearchParams({ clientId, returnTo: back });
  return {
    isCodeAllowed: signinMethods.includes('otp'),
    passkeyHost: signinMethods.includes('passkey') ? (relyingPartyOf(baseUrl())?.id ?? null) : null,
    provider: provider && { name: provider.name, startUrl: `${baseUrl()}/api/auth/google/start?${start}` },
  };
}

/** A page of this server with what is given of its parameters. */
export function ownAddress(path: string, parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${path}?${new URLSearchParams(given)}`;
}
