/** Account page: signs the reader in to the application, then shows its parts with navigation. */
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOfCode, isOver } from '../browser/api.ts';
import { type BrowserAccount, browserAccounts, continueAs } from '../browser/browser-accounts.ts';
import { takeDeparture, takeProviderReturn } from '../browser/provider-return.ts';
import { ApplicationBrand } from '../components/application-mark.tsx';
import { Frame } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import { ToastProvider } from '../components/toast.tsx';
import { ContinueStep } from '../sign-in/continue-step.tsx';
import { Refused } from '../sign-in/refused.tsx';
import { SignIn } from '../sign-in/sign-in.tsx';
import { useChoosing } from '../sign-in/use-choosing.ts';
import { interruptedCode } from '../sign-in/use-email-code.ts';
import { type OwnAccount, accountApi } from './account-api.ts';
import { AccountAway } from './away.tsx';
import { AccountClosed } from './closed.tsx';
import type { AccountPageProps } from './page-props.ts';
import { SignedInAccount } from './signed-in.tsx';

type State =
  | { readonly at: 'choosing' }
  | { readonly at: 'loading' }
  | { readonly at: 'signing-in'; readonly failure: string | null }
  | { readonly at: 'account'; readonly account: OwnAccount; readonly failedReturn: string | null }
  | { readonly at: 'away'; readonly failure: Failure; readonly retry: () => Promise<void> }
  | { readonly at: 'blocked' }
  | { readonly at: 'closed'; readonly email: string };

/** Failures that say nothing about the session, so that nobody has to sign in again for them. */
const PASSING = ['network', 'unavailable', 'internal', 'rate_limited'];

/** Says at once what the server knows, so that a signed-out visit asks for nothing. */
function firstState({ isBlocked, accounts }: AccountPageProps): State {
  if (isBlocked) return { at: 'blocked' };
  if (accounts.some(({ isCurrent }) => isCurrent)) return { at: 'loading' };
  return accounts.length > 0 ? { at: 'choosing' } : { at: 'signing-in', failure: null };
}

export function AccountPage(props: AccountPageProps) {
  const { application, locale } = props;
  const text = useTexts();
  const [accounts, setAccounts] = useState(props.accounts);
  const [state, setState] = useState<State>(() => firstState(props));
  const api = accountApi(application.clientId);
  const signInInstead = useChoosing(application.clientId, {
    isLeft: accounts.length > 0 && state.at === 'signing-in',
    choose,
    signIn,
  });
  useEffect(() => void begin(), []);

  /**
   * Loads the account with the cookie, which a provider's return has set. A return that this browser did not ask for is
   * ignored. A failed return may belong to a signed-in reader who was connecting a provider.
   */
  async function begin(): Promise<void> {
    const back = takeProviderReturn();
    const isExpected = takeDeparture();
    if (back && 'token' in back && isExpected) return signedIn();
    if (!back && interruptedCode(application.clientId)) return signIn(null);
    const failure = back && ('error' in back ? back.error : 'provider_failed');
    if (state.at === 'loading') await load(failure);
    else if (failure !== null) signIn(failure);
  }

  async function load(failure: string | null, isJustSignedIn = false): Promise<void> {
    const outcome = await api.get<OwnAccount>('/api/account');
    if (!outcome.ok && PASSING.includes(outcome.code)) return away(outcome, () => load(failure, isJustSignedIn));
    if (!outcome.ok) return signIn(reasonOf(outcome) ?? failure);
    const account = outcome.data;
    // The page used the browser's language until now; a reload lets the server use the person's own.
    if (isJustSignedIn && isInAnotherLanguage(account)) location.reload();
    else setState({ at: 'account', account, failedReturn: isJustSignedIn ? null : failure });
  }

  function away(failure: Failure, again: () => Promise<void>): void {
    async function retry(): Promise<void> {
      setState({ at: 'loading' });
      await again();
    }
    setState({ at: 'away', failure, retry });
  }

  /** Shows no error to members who paused or left, who rejoin by signing in. */
  function reasonOf(refused: Failure): string | null {
    if (refused.code === 'unauthenticated' || refused.code === 'membership_blocked') return null;
    return isOver(refused) ? 'session_ended' : refused.code;
  }

  function isInAnotherLanguage({ identity }: OwnAccount): boolean {
    return !props.isLocaleGiven && identity.locale !== null && identity.locale !== locale;
  }

  /** Loads the account of the session that the sign-in has left in the cookie. */
  async function signedIn(): Promise<void> {
    await load('internal', true);
    setAccounts(await browserAccounts(application.clientId));
  }

  function signIn(failure: string | null): void {
    setState({ at: 'signing-in', failure });
  }

  /** Goes back from the sign-in: to the account that is signed in, else to the choice. */
  function choose(): void {
    if (!accounts.some(({ isCurrent }) => isCurrent)) return setState({ at: 'choosing' });
    setState({ at: 'loading' });
    void load(null);
  }

  /** Offers the other accounts of this browser, if any; an ended session is explained first. */
  async function signedOut(failure: string | null): Promise<void> {
    const left = await browserAccounts(application.clientId);
    setAccounts(left);
    if (failure === null && left.length > 0) setState({ at: 'choosing' });
    else signIn(failure);
  }

  async function switchTo({ userId }: BrowserAccount): Promise<void> {
    const outcome = await continueAs(application.clientId, userId, 'account');
    // A reload keeps nothing of the other account.
    if (outcome.ok) location.reload();
    else signIn(outcome.code === 'unauthenticated' ? 'session_ended' : outcome.code);
  }

  if (state.at === 'account')
    return (
      <ToastProvider>
        <SignedInAccount
          {...props}
          account={state.account}
          failedReturn={state.failedReturn}
          others={accounts.filter(({ userId }) => userId !== state.account.userId)}
          onSwitch={(account) => void switchTo(account)}
          onAnother={() => signInInstead()}
          onSignedOut={(failure) => void signedOut(failure)}
          onClosed={(email) => setState({ at: 'closed', email })}
        />
      </ToastProvider>
    );
  return (
    <Frame
      brand={<ApplicationBrand {...application} />}
      links={application.links}
      locale={locale}
      scriptNeeded={text('signin.scriptNeeded')}
    >
      {state.at === 'closed' ? (
        <AccountClosed email={state.email} />
      ) : state.at === 'away' ? (
        <AccountAway failure={state.failure} onRetry={() => void state.retry()} />
      ) : state.at === 'blocked' ? (
        <Refused data={props} reason="membership_blocked" email="" backTo={null} onOtherWay={() => signIn(null)} />
      ) : state.at === 'loading' ? (
        <p class="lead loading" role="status">
          {text('account.loading')}
        </p>
      ) : state.at === 'choosing' ? (
        <ContinueStep
          data={props}
          title={text('account.signInTitle')}
          accounts={accounts}
          page="account"
          backTo={() => null}
          onContinued={() => location.reload()}
          onAnother={signInInstead}
        />
      ) : (
        <SignIn
          key={state.failure}
          page="account"
          isAnother={accounts.length > 0}
          data={props}
          title={text('account.signInTitle')}
          lead={text('account.signInLead', { app: application.name })}
          earlierFailure={() => (state.failure === null ? null : failureOfCode(state.failure))}
          backTo={() => null}
          onSignedIn={() => void signedIn()}
        />
      )}
    </Frame>
  );
}
