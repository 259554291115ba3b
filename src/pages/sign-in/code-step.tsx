/** Second step: the mailed code. Submits a complete code at once; offers a new one when it is used up. */
import { useEffect, useState } from 'preact/hooks';
import { rememberLastSignIn } from '../browser/last-sign-in.ts';
import type { Failure, SignedIn } from '../browser/api.ts';
import { extractCode } from '../browser/code.ts';
import type { Pending } from '../browser/pending.ts';
import { clockText, startCountdown } from '../browser/timing.ts';
import { Button } from '../components/button.tsx';
import { CodeField } from '../components/code-field.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { failureText } from '../components/failure-text.ts';
import { useTexts } from '../components/texts.tsx';
import type { EmailCode } from './use-email-code.ts';

interface CodeStepProps {
  readonly code: EmailCode;
  readonly pending: Pending;
  /** The code was already sent before this request. */
  readonly isEarlier: boolean;
  readonly isMailOff: boolean;
  onSignedIn(signedIn: SignedIn): void;
  /** Handles failures that do not concern the code; returns true if it did. */
  onFailure(failure: Failure): boolean;
  onChangeEmail(): void;
}

export function CodeStep(props: CodeStepProps) {
  const { code, isEarlier, isMailOff, onSignedIn, onFailure, onChangeEmail } = props;
  const pending = code.pending ?? props.pending;
  const text = useTexts();
  const [digits, setDigits] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const [busy, setBusy] = useState<'verifying' | 'sending' | null>(null);
  const [isSpent, setIsSpent] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const secondsLeft = useSecondsUntil(pending.resendAt);

  async function verify(typed: string): Promise<void> {
    if (busy) return;
    const complete = extractCode(typed);
    if (!complete) return fail(text('signin.codeIncomplete'));
    setBusy('verifying');
    setError(null);
    setNote(null);
    const outcome = await code.verify(complete);
    setBusy(null);
    if (outcome.ok) {
      rememberLastSignIn({ method: 'otp', email: pending.email });
      return onSignedIn(outcome.data);
    }
    if (onFailure(outcome)) return;
    setIsSpent(outcome.isSpent ?? false);
    if (outcome.isSpent) setDigits('');
    fail(failureText(text, outcome));
  }

  async function sendAnother(): Promise<void> {
    if (busy) return;
    setBusy('sending');
    setError(null);
    const outcome = await code.send(pending.email);
    setBusy(null);
    if (!outcome.ok) {
      if (!onFailure(outcome)) fail(failureText(text, outcome));
      return;
    }
    setIsSpent(false);
    setDigits('');
    const { isEarlier: isSame, isFormerAlive } = outcome.data;
    setNote(isSame ? null : text(isFormerAlive ? 'signin.resent' : 'signin.resentAlone'));
    setAttempt((before) => before + 1);
  }

  function fail(message: string): void {
    setNote(null);
    setError(message);
    setAttempt((before) => before + 1);
  }

  const isWaiting = secondsLeft > 0 && !isSpent;
  return (
    <section class="step">
      <h1 id="title">{text(isMailOff ? 'signin.mailOffTitle' : 'signin.codeTitle')}</h1>
      <p class="lead" id="lead">
        {emphasized(text, leadOf(isMailOff, isEarlier), { email: pending.email })}{' '}
        <button class="link" id="change-email" type="button" onClick={onChangeEmail}>
          {text('signin.editEmail')}
        </button>
      </p>
      <form
        id="code-form"
        method="post"
        noValidate
        data-spent={isSpent ? '' : undefined}
        onSubmit={(event) => {
          event.preventDefault();
          void verify(digits);
        }}
      >
        <CodeField
          value={digits}
          error={error}
          isReadOnly={busy === 'verifying'}
          focusKey={attempt}
          onDigits={setDigits}
          onComplete={(complete) => void verify(complete)}
        />
        {!isSpent && (
          <Button id="code-submit" type="submit" busyText={busy === 'verifying' && text('signin.verifying')}>
            {text('signin.verify')}
          </Button>
        )}
        <Button
          id="resend"
          look={isSpent ? 'primary' : 'plain'}
          disabled={isWaiting}
          busyText={busy === 'sending' && text('signin.sending')}
          onClick={() => void sendAnother()}
        >
          {isWaiting ? text('signin.resendIn', { time: clockText(secondsLeft) }) : text('signin.resend')}
        </Button>
      </form>
      <p class="hint" id="note" role="status">
        {note ?? (isMailOff || isSpent ? '' : text('signin.codeSpam'))}
      </p>
    </section>
  );
}

function leadOf(isMailOff: boolean, isEarlier: boolean) {
  if (isMailOff) return 'signin.mailOff';
  return isEarlier ? 'signin.codeAlready' : 'signin.codeLead';
}

/** @param at epoch milliseconds of this device. */
function useSecondsUntil(at: number): number {
  const until = () => Math.max(0, Math.ceil((at - Date.now()) / 1_000));
  const [seconds, setSeconds] = useState(until);
  useEffect(() => startCountdown(until(), setSeconds), [at]);
  return seconds;
}
