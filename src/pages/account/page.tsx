/** Account page: signs the reader in to the application, then shows its parts with navigation. */
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOfCode, isOver, request, type SignedIn } from '../browser/api.ts';
import { takeDeparture, takeProviderReturn } from '../browser/provider-return.ts';
import { ApplicationMark } from '../components/application-mark.tsx';
import { Frame } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import { ToastProvider } from '../components/toast.tsx';
import { SignIn } from '../sign-in/sign-in.tsx';
import { type OwnAccount, accountApi } from './account-api.ts';
import { AccountClosed } from './closed.tsx';
import type { AccountPageProps } from './page-props.ts';
import { SignedInAccount } from './signed-in.tsx';

type State =
  | { readonly at: 'loading' }
  | { readonly at: 'signing-in'; readonly failure: string | null }
  | { readonly at: 'account'; readonly account: OwnAccount; readonly failedReturn: string | null }
  | { readonly at: 'closed'; readonly email: string };

export function AccountPage(props: AccountPageProps) {
  const { application, locale } = props;
  const text = useTexts();
  const [state, setState] = useState<State>({ at: 'loading' });
  const api = accountApi(application.clientId);
  useEffect(() => void begin(), []);

  /**
   * Loads the account with the cookie, or signs in on return from a provider that this browser went to.
   * Any other token is ignored. A failed return may belong to a signed-in reader who was connecting a provider.
   */
  async function begin(): Promise<void> {
    const back = takeProviderReturn();
    const isExpected = takeDeparture();
    if (back && 'token' in back && isExpected) return signedIn(back.token);
    await load(back && ('error' in back ? back.error : 'provider_failed'));
  }

  async function load(failure: string | null, isJustSignedIn = false): Promise<void> {
    const outcome = await api.get<OwnAccount>('/api/account');
    if (!outcome.ok) return setState({ at: 'signing-in', failure: reasonOf(outcome) ?? failure });
    const account = outcome.data;
    // The page used the browser's language until now; a reload lets the server use the person's own.
    if (isJustSignedIn && isInAnotherLanguage(account)) location.reload();
    else setState({ at: 'account', account, failedReturn: isJustSignedIn ? null : failure });
  }

  /** Shows no error to members who paused or left, who rejoin by signing in; blocked ones see why then. */
  function reasonOf(refused: Failure): string | null {
    if (refused.code === 'unauthenticated' || refused.code === 'membership_blocked') return null;
    return isOver(refused) ? 'session_ended' : refused.code;
  }

  function isInAnotherLanguage({ identity }: OwnAccount): boolean {
    return !props.isLocaleGiven && identity.locale !== null && identity.locale !== locale;
  }

  /** Stores the token in an HttpOnly cookie and drops it here. */
  async function signedIn(token: string): Promise<void> {
    const kept = await request('/account/session', { method: 'PUT', bearer: token });
    if (kept.ok) await load('internal', true);
    else setState({ at: 'signing-in', failure: kept.code });
  }

  if (state.at === 'account')
    return (
      <ToastProvider>
        <SignedInAccount
          {...props}
          account={state.account}
          failedReturn={state.failedReturn}
          onSignedOut={(failure) => setState({ at: 'signing-in', failure })}
          onClosed={(email) => setState({ at: 'closed', email })}
        />
      </ToastProvider>
    );
  return (
    <Frame
      brand={<ApplicationMark {...application} />}
      links={application.links}
      locale={locale}
      scriptNeeded={text('signin.scriptNeeded')}
    >
      {state.at === 'closed' ? (
        <AccountClosed email={state.email} />
      ) : state.at === 'loading' ? (
        <p class="lead" role="status">
          {text('account.loading')}
        </p>
      ) : (
        <SignIn
          data={props}
          title={text('account.signInTitle')}
          lead={text('account.signInLead', { app: application.name })}
          earlierFailure={() => (state.failure === null ? null : failureOfCode(state.failure))}
          backTo={() => null}
          onSignedIn={(session: SignedIn) => void signedIn(session.token)}
        />
      )}
    </Frame>
  );
}
