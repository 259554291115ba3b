/** Page of a device code: sign-in, the device's request, and the decision. */
import { CircleCheck, CircleSlash, TriangleAlert } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { type Failure, failureOfCode, get, isOver, post, signOut } from '../browser/api.ts';
import { forgetDeviceSession, keepDeviceSession, keptDeviceSession } from '../browser/device-session.ts';
import { takeDeparture, takeProviderReturn } from '../browser/provider-return.ts';
import { ApplicationBrand } from '../components/application-mark.tsx';
import { Button, LinkButton } from '../components/button.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { Frame } from '../components/frame.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInData } from '../sign-in/offer.ts';
import { SignIn } from '../sign-in/sign-in.tsx';
import { type DeviceRequest, Request } from './request.tsx';

export interface DevicePageProps extends SignInData {
  /** Formatted code: `BCDF-GHJK`. */
  readonly userCode: string;
}

type Decision = 'approve' | 'deny';

type State =
  | { readonly at: 'signing-in'; readonly failure: Failure | null; readonly visit: number }
  | { readonly at: 'checking' }
  | { readonly at: 'asked'; readonly request: DeviceRequest }
  | { readonly at: 'decided'; readonly status: DeviceRequest['status'] }
  | { readonly at: 'failed'; readonly failure: Failure };

/** Failures for which a retry may help. */
const PASSING = ['network', 'internal', 'unavailable', 'rate_limited'];

export function ConnectPage(props: DevicePageProps) {
  const { application, userCode, locale } = props;
  const text = useTexts();
  const [state, setState] = useState<State>({ at: 'signing-in', failure: null, visit: 0 });
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const token = useRef<string | null>(null);
  useLayoutEffect(resume, []);

  /** Resumes after a reload or a provider's return. A token that this browser did not request is ignored. */
  function resume(): void {
    const back = takeProviderReturn();
    const isExpected = takeDeparture();
    const kept = back && 'token' in back && isExpected ? back.token : keptDeviceSession(userCode);
    if (kept !== null) return void lookUp(kept);
    if (back) signIn(failureOfCode('error' in back ? back.error : 'provider_failed'));
  }

  function signIn(failure: Failure | null = null): void {
    setState((before) => ({ at: 'signing-in', failure, visit: before.at === 'signing-in' ? before.visit + 1 : 1 }));
  }

  async function lookUp(sessionToken: string): Promise<void> {
    token.current = sessionToken;
    keepDeviceSession(userCode, sessionToken);
    setState({ at: 'checking' });
    const path = `/api/account/device?user_code=${encodeURIComponent(userCode)}`;
    const outcome = await get<DeviceRequest>(path, sessionToken);
    if (!outcome.ok) return fail(outcome);
    if (outcome.data.status !== 'pending') return decided(outcome.data.status);
    setState({ at: 'asked', request: outcome.data });
  }

  async function decide(decision: Decision): Promise<void> {
    const sessionToken = token.current;
    if (sessionToken === null) return signIn();
    if (deciding) return;
    setDeciding(decision);
    const path = `/api/account/device/${decision}`;
    const outcome = await post<{ status: DeviceRequest['status'] }>(path, { user_code: userCode }, sessionToken);
    setDeciding(null);
    if (outcome.ok) return decided(outcome.data.status);
    // Decided elsewhere, as in another tab: show that decision.
    if (outcome.code === 'invalid_state') return lookUp(sessionToken);
    fail(outcome);
  }

  function decided(status: DeviceRequest['status']): void {
    endSession();
    setState({ at: 'decided', status });
  }

  function fail(failure: Failure): void {
    // A session too old for this action counts as ended.
    const isSignedOut = isOver(failure) || failure.code === 'reauthentication_required';
    if (isSignedOut || !PASSING.includes(failure.code)) endSession();
    if (isSignedOut) return signIn(failureOfCode('session_ended'));
    setState({ at: 'failed', failure });
  }

  /** Ends the session, which was only for this decision. The console's stays: the browser's cookie shares it. */
  function endSession(): void {
    if (token.current !== null && application.clientId !== CONSOLE_CLIENT_ID) signOut(token.current);
    token.current = null;
    forgetDeviceSession();
  }

  return (
    <Frame
      brand={<ApplicationBrand {...application} />}
      links={application.links}
      locale={locale}
      scriptNeeded={text('device.scriptNeeded')}
    >
      {state.at === 'signing-in' && (
        <SignIn
          key={state.visit}
          data={props}
          title={text('signin.title', { app: application.name })}
          lead={emphasized(text, 'device.signInLead', { code: userCode })}
          earlierFailure={() => state.failure}
          backTo={() => null}
          onSignedIn={(session) => void lookUp(session.token)}
        />
      )}
      {state.at === 'checking' && (
        <section class="step" id="checking" role="status">
          <p class="lead">{text('device.checking')}</p>
        </section>
      )}
      {state.at === 'asked' && (
        <Request
          request={state.request}
          userCode={userCode}
          appName={application.name}
          deciding={deciding}
          onDecide={(decision) => void decide(decision)}
          onChangeAccount={() => {
            endSession();
            signIn();
          }}
        />
      )}
      {state.at === 'decided' &&
        (state.status === 'denied' ? (
          <OutcomeStep
            id="declined"
            icon={CircleSlash}
            tone="neutral"
            title={text('device.declinedTitle')}
            lead={text('device.declined')}
          />
        ) : (
          <OutcomeStep
            id="approved"
            icon={CircleCheck}
            tone="good"
            title={text('device.approvedTitle')}
            lead={text('device.approved')}
          />
        ))}
      {state.at === 'failed' && (
        <OutcomeStep
          id="failed"
          icon={TriangleAlert}
          tone="warn"
          title={text('device.failedTitle')}
          lead={
            <span id="failed-text">
              {isGone(state.failure) ? text('device.expired') : failureText(text, state.failure)}
            </span>
          }
        >
          {PASSING.includes(state.failure.code) && (
            <Button id="retry" onClick={() => (token.current === null ? signIn() : void lookUp(token.current))}>
              {text('device.tryAgain')}
            </Button>
          )}
          <LinkButton look="plain" href="/device">
            {text('device.enterCode')}
          </LinkButton>
        </OutcomeStep>
      )}
    </Frame>
  );
}

function isGone({ code }: Failure): boolean {
  return code === 'not_found' || code === 'invalid_state';
}
