/** Types of the sign-in data that the server passes to a page. Types only, because browsers import them. */
import type { LegalLinks } from '../components/frame.tsx';
import type { ShownApplication } from '../components/application-mark.tsx';
import type { Locale } from '../../core/locale.ts';

export interface SignInOffer {
  readonly isCodeAllowed: boolean;
  /** Relying party's host; the button shows if the browser is at that host and supports passkeys. */
  readonly passkeyHost: string | null;
  /** Name of the identity provider and the start of its flow. */
  readonly provider: { readonly name: string; readonly startUrl: string } | null;
}

/** The part of `public/state` that the pages show. */
export interface PublicState {
  readonly stage: 'draft' | 'test' | 'live';
  readonly signinGate: 'public' | 'private_beta' | 'closed';
  readonly betaRequestPolicy: 'manual' | 'auto_accept' | 'auto_decline';
  readonly archivedAt: string | null;
  readonly deletedAt: string | null;
}

export interface SignInApplication extends ShownApplication {
  readonly id: string;
  readonly links: LegalLinks;
  /** Null for the console, which has no gate of its own. */
  readonly state: PublicState | null;
  /** Start page of the application; null if unknown. */
  readonly homeUrl: string | null;
  /** Page or `mailto:` address of those who run the application; null if unknown. */
  readonly supportUrl: string | null;
}

export interface SignInData {
  /** The reader's language, for the code mail; the page may be in another. */
  readonly locale: Locale;
  readonly application: SignInApplication;
  readonly methods: SignInOffer;
  /** This browser's last sign-in was by passkey, which is offered before the address. */
  readonly isPasskeyFirst: boolean;
  /** Wrong attempts before a code is invalid. */
  readonly wrongTriesPerCode: number;
  /** No mail is sent, so the page must not claim it. */
  readonly isMailOff: boolean;
  /** Development server, which may show API calls. */
  readonly isDev: boolean;
}
