/** First step for a browser with accounts: continue as one of them, or use another. Nothing happens without a press. */
import { useState } from 'preact/hooks';
import type { Failure } from '../browser/api.ts';
import { type BrowserAccount, continueAs, type Continued, type HostedPage } from '../browser/browser-accounts.ts';
import { Button } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { useTrouble } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInData } from './offer.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { Refused } from './refused.tsx';
import { usePublicState } from './use-public-state.ts';

interface ContinueStepProps {
  readonly data: SignInData;
  readonly title: string;
  readonly accounts: readonly BrowserAccount[];
  readonly page: HostedPage;
  /** Returns the address that a refused person can return to. */
  readonly backTo: (reason: string) => string | null;
  onContinued(continued: Continued, userId: string): void;
  /** @param failure error code if the account's session has ended. */
  onAnother(failure: string | null): void;
}

interface Refusing {
  readonly email: string;
  readonly reason: Refusal;
}

export function ContinueStep({ data, title, accounts, page, backTo, onContinued, onAnother }: ContinueStepProps) {
  const text = useTexts();
  const trouble = useTrouble();
  const { state, noteRefusal } = usePublicState(data.application);
  const [busy, setBusy] = useState<string | null>(null);
  const [refused, setRefused] = useState<Refusing | null>(null);
  /** The account whose try has failed for now. */
  const [failed, setFailed] = useState<string | null>(null);

  async function press({ userId, email }: BrowserAccount): Promise<void> {
    if (busy !== null) return;
    setBusy(userId);
    trouble(null);
    const outcome = await continueAs(data.application.clientId, userId, page);
    setBusy(null);
    if (outcome.ok) onContinued(outcome.data, userId);
    else fail(outcome, { userId, email });
  }

  function fail(failure: Failure, { userId, email }: Pick<BrowserAccount, 'userId' | 'email'>): void {
    if (isRefusal(failure.code)) {
      noteRefusal(failure.code);
      return setRefused({ email, reason: failure.code });
    }
    if (failure.code === 'unauthenticated') return onAnother('session_ended');
    setFailed(userId);
    trouble(failureText(text, failure));
  }

  function useAnother(): void {
    trouble(null);
    onAnother(null);
  }

  if (refused)
    return (
      <Refused
        data={data}
        state={state}
        reason={refused.reason}
        email={refused.email}
        backTo={backTo(refused.reason)}
        onOtherWay={useAnother}
      />
    );
  return (
    <section class="step" id="accounts">
      <h1 id="title">{title}</h1>
      <p class="lead" id="lead">
        {text('signin.accountsLead')}
      </p>
      {accounts.some(({ isNewElsewhere }) => isNewElsewhere) && (
        <p class="lead" id="passed-on">
          {text(accounts.every(({ isNewElsewhere }) => isNewElsewhere) ? 'signin.passedOn' : 'signin.passedOnIfNew', {
            app: data.application.name,
          })}
        </p>
      )}
      <div class="actions">
        {accounts.map((account, index) => (
          <Button
            key={account.userId}
            data-account={account.email}
            look={index === 0 ? 'primary' : 'plain'}
            aria-describedby={account.isNewElsewhere ? 'passed-on' : undefined}
            busyText={busy === account.userId && text('signin.verifying')}
            onClick={() => void press(account)}
          >
            {failed === account.userId
              ? text('errors.problem.tryAgain')
              : emphasized(text, 'signin.continueAs', { email: account.email })}
          </Button>
        ))}
        <Button id="another-account" look="quiet" onClick={useAnother}>
          {text('signin.anotherAccount')}
        </Button>
      </div>
    </section>
  );
}
