/** What signing in to an application needs to know: which ways it offers and this server can carry out, and how it looks. */
import type { Locale } from '../../core/locale.ts';
import { relyingPartyOf } from '../../core/relying-party.ts';
import type { Application } from '../../store/applications.ts';
import { homeOf } from '../application-home.ts';
import type { SignInApplication, SignInData, SignInOffer } from './offer.ts';

export interface SignInDataDependencies {
  /** Where this server is reached, without a trailing slash. */
  readonly baseUrl: () => string;
  /** The identity provider that the application's people can use; null where none is configured. */
  readonly providerFor: (application: Application) => Promise<{ readonly name: string } | null>;
  readonly wrongTriesPerCode: number;
  /** Mail stays in the outbox of a server that is not for development. */
  readonly isMailOff: boolean;
  readonly isDev: boolean;
}

/** What the start of a provider's flow takes. */
const MAX_RETURN_LENGTH = 2000;

/** Which page asks. */
export interface SignInRequest {
  readonly application: Application;
  readonly locale: Locale;
  /** The page's own path and query, where the provider's flow comes back to. */
  readonly own: string;
  readonly returnTo?: string | null;
}

export async function signInDataFor(
  { application, locale, own, returnTo = null }: SignInRequest,
  dependencies: SignInDataDependencies,
): Promise<SignInData> {
  const { wrongTriesPerCode, isMailOff, isDev } = dependencies;
  return {
    locale,
    application: shownApplication(application),
    ways: await waysInto(application, { own, returnTo, locale }, dependencies),
    wrongTriesPerCode,
    isMailOff,
    isDev,
  };
}

/** What anybody sees of an application on its pages. */
export function shownApplication(application: Application): SignInApplication {
  const { id, clientId, name, logoUrl, accentColor, stage, termsUrl, privacyUrl, imprintUrl } = application;
  return {
    id,
    clientId,
    name,
    logoUrl,
    accentColor,
    isDraft: stage === 'draft',
    homeUrl: homeOf(application),
    links: { terms: termsUrl, privacy: privacyUrl, imprint: imprintUrl },
  };
}

export async function waysInto(
  application: Application,
  { own, returnTo = null, locale }: { own: string; returnTo?: string | null; locale: Locale },
  { baseUrl, providerFor }: Pick<SignInDataDependencies, 'baseUrl' | 'providerFor'>,
): Promise<SignInOffer> {
  const { signinMethods, clientId } = application;
  const provider = signinMethods.includes('provider') ? await providerFor(application) : null;
  // Back on this page a failure leaves the other ways open; a very long address can only go back directly.
  const page = baseUrl() + own;
  const back = page.length > MAX_RETURN_LENGTH && returnTo !== null ? returnTo : page;
  const start = new URLSearchParams({ clientId, returnTo: back, locale });
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
