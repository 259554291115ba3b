/** What signing in needs to know, on whichever page it stands. Types only: the server fills it in, the browser reads it. */
import type { LegalLinks } from '../components/frame.tsx';
import type { ShownApplication } from '../components/application-mark.tsx';
import type { Locale } from '../../core/locale.ts';

/** The ways to sign in that a page shows. */
export interface SignInOffer {
  readonly isCodeAllowed: boolean;
  /** The host that passkeys belong to; their button shows where the browser is at that host and knows them. */
  readonly passkeyHost: string | null;
  /** The identity provider's name and where going there starts. */
  readonly provider: { readonly name: string; readonly startUrl: string } | null;
}

/** An application as its pages show it. */
export interface SignInApplication extends ShownApplication {
  readonly id: string;
  readonly links: LegalLinks;
  /** Not opened yet: only those who make it come in. */
  readonly isDraft: boolean;
  /** The application's own start page; null if unknown. */
  readonly homeUrl: string | null;
}

export interface SignInData {
  /** The reader's own, for the mail with the code; the page may be in another. */
  readonly locale: Locale;
  readonly application: SignInApplication;
  readonly ways: SignInOffer;
  /** What a code takes before it is dead. */
  readonly wrongTriesPerCode: number;
  /** No mail leaves this server: nothing is claimed to have been sent. */
  readonly isMailOff: boolean;
  /** A server for development, which may name its calls. */
  readonly isDev: boolean;
}
