/**
 * Sign-in page: returns with a session token; the console's own keeps the session here and opens the console. For an
 * OpenID client it only signs in here, and its token goes nowhere: the client gets a code.
 */
import { Fingerprint } from 'lucide';
import { useLayoutEffect, useState } from 'preact/hooks';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { failureOfCode, request, type SignedIn } from '../browser/api.ts';
import type { BrowserAccount } from '../browser/browser-accounts.ts';
import { isProviderReturn, takeDeparture, takeProviderReturn } from '../browser/provider-return.ts';
import { addressBack } from '../browser/return-url.ts';
import { sendTrialToken } from '../browser/trial-channel.ts';
import { ApplicationBrand } from '../components/application-mark.tsx';
import { Button } from '../components/button.tsx';
import { Frame } from '../components/frame.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';
import { ContinueStep } from './continue-step.tsx';
import { DoneStep } from './done-step.tsx';
import type { SignInData } from './offer.ts';
import { type PasskeyOffer, preparePasskeyOffer } from './passkey-offer.ts';
import { SignIn } from './sign-in.tsx';
import { useChoosing } from './use-choosing.ts';
import { interruptedCode } from './use-email-code.ts';

/** A client's authorization request, which goes on after the sign-in. */
export interface ContinuedRequest {
  /** Address that goes on with the request. */
  readonly continueAt: string;
  /** Takes a refused person back to the client. */
  readonly deniedAt: string;
}

export interface SignInPageProps extends SignInData {
  /** Receives the session token in the fragment; validated against the registered return URLs by the server. */
  readonly returnTo: string | null;
  /** Opened by a trial link: shows the token and passes it to the console in this browser. */
  readonly isTrial: boolean;
  /** Null for a sign-in to the application itself. */
  readonly authorization: ContinuedRequest | null;
  readonly email: string | null;
  /** Accounts of this browser that may continue here. */
  readonly accounts: readonly BrowserAccount[];
}

type Session = Pick<SignedIn, 'token' | 'expiresAt'>;

type State =
  | { readonly at: 'choosing' }
  | { readonly at: 'signing-in'; readonly failure: string | null }
  | { readonly at: 'offer'; readonly offer: PasskeyOffer; readonly session: Session }
  | { readonly at: 'done'; readonly isReturning: boolean; readonly trialToken: string | null };

export function SignInPage(props: SignInPageProps) {
  const { application, methods, returnTo, isTrial, authorization, locale, accounts } = props;
  const text = useTexts();
  const app = application.name;
  const [state, setState] = useState<State>(
    accounts.length > 0 ? { at: 'choosing' } : { at: 'signing-in', failure: null },
  );
  const signInInstead = useChoosing(application.clientId, {
    isLeft: accounts.length > 0 && state.at === 'signing-in',
    choose: () => setState({ at: 'choosing' }),
    signIn: (failure) => setState({ at: 'signing-in', failure }),
  });
  // The sign-in goes on after a provider's return, or a reload at the code.
  useLayoutEffect(() => {
    const isUnderWay = isProviderReturn() || interruptedCode(application.clientId) !== null;
    if (accounts.length > 0 && isUnderWay) setState({ at: 'signing-in', failure: null });
  }, []);
  const [isCreating, setIsCreating] = useState(false);

  const isConsole = application.clientId === CONSOLE_CLIENT_ID && returnTo === null;
  const page = authorization ? 'account' : 'sign-in';
  const backTo = (reason: string) => authorization?.deniedAt ?? addressBack(returnTo, { error: reason });

  /** Stores the token in an HttpOnly cookie and drops it here. */
  async function enterConsole(token: string, target = '/console'): Promise<void> {
    setState({ at: 'done', isReturning: true, trialToken: null });
    const kept = await request('/account/session', { method: 'PUT', bearer: token });
    if (kept.ok) location.replace(target);
    else setState({ at: 'signing-in', failure: kept.code });
  }

  /** Goes on with a client's request, as the account that the person has just signed in as or chosen. */
  function proceed({ continueAt }: ContinuedRequest, userId: string, token: string | null): void {
    const target = `${continueAt}&account=${encodeURIComponent(userId)}`;
    if (isConsole && token !== null) return void enterConsole(token, target);
    setState({ at: 'done', isReturning: true, trialToken: null });
    location.replace(target);
  }

  /** Passes the token in the fragment, as a direct provider return would. */
  function finish({ token, expiresAt }: Session): void {
    if (isConsole) return void enterConsole(token);
    const address = addressBack(returnTo, { token, expiresAt });
    setState({ at: 'done', isReturning: address !== null, trialToken: isTrial ? token : null });
    if (isTrial) sendTrialToken({ applicationId: application.id, token });
    if (address) location.replace(address);
  }

  async function onSignedIn(session: SignedIn, method: 'otp' | 'passkey'): Promise<void> {
    if (authorization) return proceed(authorization, session.userId, session.token);
    const offer = method === 'otp' && !isTrial ? await preparePasskeyOffer(methods.passkeyHost, session.token) : null;
    if (offer) setState({ at: 'offer', offer, session });
    else finish(session);
  }

  async function accept(offer: PasskeyOffer, session: Session): Promise<void> {
    if (isCreating) return;
    setIsCreating(true);
    await offer.accept();
    finish(session);
  }

  function earlierFailure() {
    const back = takeProviderReturn();
    if (back === null) return null;
    if ('error' in back) return failureOfCode(back.error);
    // The cookie has the session already.
    if (authorization) return null;
    // Login CSRF protection: a link with somebody else's token must not leave their session here.
    if ((isConsole || isTrial) && !takeDeparture()) return failureOfCode('provider_failed');
    finish(back);
    return null;
  }

  return (
    <Frame
      brand={<ApplicationBrand {...application} />}
      links={application.links}
      locale={locale}
      scriptNeeded={text('signin.scriptNeeded')}
    >
      {state.at === 'choosing' && (
        <ContinueStep
          data={props}
          title={text('signin.title', { app })}
          accounts={accounts}
          page={page}
          backTo={backTo}
          onContinued={({ session }, userId) => {
            if (authorization) proceed(authorization, userId, null);
            else if (session) finish(session);
          }}
          onAnother={signInInstead}
        />
      )}
      {state.at === 'signing-in' && (
        <SignIn
          key={state.failure}
          data={props}
          title={text('signin.title', { app })}
          lead={text(methods.isCodeAllowed && !props.isPasskeyFirst ? 'signin.lead' : 'signin.leadWithoutCode')}
          email={accounts.length > 0 ? null : props.email}
          isAnother={accounts.length > 0}
          {...(!isTrial && { page })}
          earlierFailure={() => (state.failure === null ? earlierFailure() : failureOfCode(state.failure))}
          backTo={backTo}
          onSignedIn={(session, method) => void onSignedIn(session, method)}
        />
      )}
      {state.at === 'offer' && (
        <OutcomeStep
          id="offer"
          icon={Fingerprint}
          tone="neutral"
          title={text('signin.offerTitle')}
          lead={text('signin.offerLead')}
        >
          <Button
            id="offer-create"
            busyText={isCreating && text('signin.offerCreating')}
            onClick={() => void accept(state.offer, state.session)}
          >
            {text('signin.offerCreate')}
          </Button>
          <Button id="offer-skip" look="plain" onClick={() => finish(state.session)}>
            {text('signin.offerSkip')}
          </Button>
        </OutcomeStep>
      )}
      {state.at === 'done' && (
        <DoneStep application={application} isReturning={state.isReturning} trialToken={state.trialToken} />
      )}
    </Frame>
  );
}
