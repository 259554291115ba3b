/** Final step of a sign-in: returning to the application, or a message without a return address. */
import { LogIn } from 'lucide';
import { LinkButton } from '../components/button.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { CopySample } from '../components/copy-sample.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInApplication } from './offer.ts';

export interface DoneStepProps {
  readonly application: SignInApplication;
  readonly isReturning: boolean;
  /** Session token of a trial, the only sign-in that shows one; null otherwise. */
  readonly trialToken: string | null;
}

export function DoneStep({ application, isReturning, trialToken }: DoneStepProps) {
  const { name: app, clientId, homeUrl } = application;
  const text = useTexts();
  const outcome = { id: 'signed-in', icon: LogIn, tone: 'good', title: text('signin.signedInTitle') } as const;
  if (isReturning) return <OutcomeStep {...outcome} lead={text('signin.returning', { app })} />;
  if (trialToken !== null)
    return (
      <OutcomeStep {...outcome} lead={text('signin.trialLead', { app })}>
        <div class="part">
          <h2>{text('signin.trialToken')}</h2>
          <CopySample id="trial-token" label={text('signin.trialCopy')} content={trialToken} />
        </div>
        <div class="part">
          <h2>{text('signin.trialCommand')}</h2>
          <CopySample id="trial-command" label={text('signin.setup.copyExample')} content={commandFor(trialToken)} />
        </div>
      </OutcomeStep>
    );
  return (
    <OutcomeStep {...outcome} lead={text('signin.signedIn')}>
      {homeUrl !== null && (
        <LinkButton id="home" href={homeUrl}>
          {text('signin.back', { app })}
        </LinkButton>
      )}
      <LinkButton id="account" look="plain" href={`/account?${new URLSearchParams({ clientId })}`}>
        {text('signin.account')}
      </LinkButton>
    </OutcomeStep>
  );
}

function commandFor(token: string): string {
  return `curl ${location.origin}/api/v1/verify \\
  -H 'Authorization: Bearer eak_…' \\
  -H 'Content-Type: application/json' \\
  -d '{"token":"${token}"}'`;
}
