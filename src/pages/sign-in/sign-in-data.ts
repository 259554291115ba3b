/** Collects the sign-in data of an application: available methods and branding. */
import { isoTime } from '../../core/clock.ts';
import type { Locale } from '../../core/locale.ts';
import { supportOf } from '../../core/application-support.ts';
import { relyingPartyOf } from '../../core/relying-party.ts';
import type { Application } from '../../store/applications.ts';
import { brandOf } from '../application-brand.ts';
import { homeOf } from '../application-home.ts';
import { hyphenated } from '../../core/hyphenated.ts';
import { hasPasskeyHint } from '../method-hint.ts';
import type { PublicState, SignInApplication, SignInData, SignInOffer } from './offer.ts';

export interface SignInDataDependencies {
  /** Public URL of this server, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Returns the application's identity provider; null if none is configured. */
  readonly providerFor: (application: Application) => Promise<{ readonly name: string } | null>;
  readonly wrongTriesPerCode: number;
  /** Mail stays in the outbox although this is not a development server. */
  readonly isMailOff: () => Promise<boolean>;
  readonly isDev: boolean;
}

/** Limit of the provider flow's start. */
const MAX_RETURN_LENGTH = 4096;

export interface SignInRequest {
  readonly application: Application;
  readonly locale: Locale;
  /** Path and query of the page, to which the provider's flow returns. */
  readonly own: string;
  readonly returnTo?: string | null;
  readonly request: Request;
}

export async function signInDataFor(
  { application, locale, own, returnTo = null, request }: SignInRequest,
  dependencies: SignInDataDependencies,
): Promise<SignInData> {
  const { wrongTriesPerCode, isMailOff, isDev } = dependencies;
  const methods = await signInOffer(application, { own, returnTo, locale }, dependencies);
  return {
    locale,
    application: shownApplication(application),
    methods,
    isPasskeyFirst: methods.passkeyHost !== null && hasPasskeyHint(request),
    wrongTriesPerCode,
    isMailOff: await isMailOff(),
    isDev,
  };
}

export function shownApplication(application: Application): SignInApplication {
  const { id, clientId, name, termsUrl, privacyUrl, imprintUrl } = application;
  return {
    id,
    clientId,
    name: hyphenated(name),
    ...brandOf(application),
    state: application.workspaceId === null ? null : stateOf(application),
    homeUrl: homeOf(application),
    supportUrl: supportOf(application),
    links: { terms: termsUrl, privacy: privacyUrl, imprint: imprintUrl },
  };
}

function stateOf({ stage, signinGate, betaRequestPolicy, archivedAt, deletedAt }: Application): PublicState {
  return { stage, signinGate, betaRequestPolicy, archivedAt: isoTime(archivedAt), deletedAt: isoTime(deletedAt) };
}

export async function signInOffer(
  application: Application,
  { own, returnTo = null, locale }: { own: string; returnTo?: string | null; locale: Locale },
  { baseUrl, providerFor }: Pick<SignInDataDependencies, 'baseUrl' | 'providerFor'>,
): Promise<SignInOffer> {
  const { signinMethods, clientId } = application;
  const provider = signinMethods.includes('provider') ? await providerFor(application) : null;
  // Returning to this page keeps other methods available after a failure. A very long address returns directly.
  const page = baseUrl() + own;
  const back = page.length > MAX_RETURN_LENGTH && returnTo !== null ? returnTo : page;
  const start = new URLSearchParams({ clientId, returnTo: back, locale });
  return {
    isCodeAllowed: signinMethods.includes('otp'),
    passkeyHost: signinMethods.includes('passkey') ? (relyingPartyOf(baseUrl())?.id ?? null) : null,
    provider: provider && { name: provider.name, startUrl: `${baseUrl()}/api/auth/google/start?${start}` },
  };
}

/** Returns a path of this server with the parameters that are set. */
export function ownAddress(path: string, parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${path}?${new URLSearchParams(given)}`;
}
