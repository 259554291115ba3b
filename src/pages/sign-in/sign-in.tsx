/** Sign-in component: one step at a time, or a refusal. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Failure, SignedIn } from '../browser/api.ts';
import { isLikeEmail } from '../browser/email-address.ts';
import { rememberLastSignIn } from '../browser/last-sign-in.ts';
import type { Pending } from '../browser/pending.ts';
import { failureText } from '../components/failure-text.ts';
import { useTrouble } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import { CodeStep } from './code-step.tsx';
import type { SignInData } from './offer.ts';
import { isRefusal, type Refusal, Refused } from './refused.tsx';
import { interruptedCode, useEmailCode } from './use-email-code.ts';
import { usePasskey } from './use-passkey.ts';
import { MethodsStep } from './methods-step.tsx';

interface SignInProps {
  readonly data: SignInData;
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly email?: string | null;
  /** Returns an earlier failure, such as a provider's; called once, in the browser. */
  readonly earlierFailure?: () => Failure | null;
  /** Returns the address that a refused person can return to. */
  readonly backTo: (reason: string) => string | null;
  onSignedIn(signedIn: SignedIn, method: 'otp' | 'passkey'): void;
}

type Step =
  | { readonly at: 'methods'; readonly isAgain: boolean }
  | { readonly at: 'code'; readonly pending: Pending; readonly isEarlier: boolean }
  | { readonly at: 'refused'; readonly reason: Refusal };

/** Failures that concern the address and appear at its field. */
const OF_ADDRESS = ['invalid_request', 'rate_limited'];

export function SignIn({ data, title, lead, email: given, earlierFailure, backTo, onSignedIn }: SignInProps) {
  const text = useTexts();
  const trouble = useTrouble();
  const [step, setStep] = useState<Step>({ at: 'methods', isAgain: false });
  const [email, setEmail] = useState(given ?? '');
  const [error, setError] = useState<string | null>(null);
  const [hint, setHint] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const code = useEmailCode(data);
  const passkey = usePasskey(data, data.methods.isCodeAllowed, {
    onBegin: clear,
    onUnused: () => setHint(text('signin.passkeyUnused')),
    onFailure: (failure) => fail(failure),
    onSignedIn: (signedIn) => {
      rememberLastSignIn({ method: 'passkey', email: null });
      onSignedIn(signedIn, 'passkey');
    },
  });

  // Each step is a history entry: going back from the code leads to the address.
  useLayoutEffect(() => {
    const failure = earlierFailure?.() ?? null;
    const interrupted = interruptedCode(data.application.clientId);
    if (failure) fail(failure);
    else if (interrupted) {
      setEmail(interrupted.email);
      setStep({ at: 'code', pending: interrupted, isEarlier: false });
    }
    const onBack = () => setStep((now) => (now.at === 'methods' ? now : { at: 'methods', isAgain: true }));
    addEventListener('popstate', onBack);
    return () => removeEventListener('popstate', onBack);
  }, []);

  function clear(): void {
    setError(null);
    setHint(null);
    trouble(null);
  }

  /** @returns whether the failure was handled; the step handles failures of its field. */
  function fail(failure: Failure, isOfField = false): boolean {
    clear();
    if (isRefusal(failure.code)) {
      code.forget();
      setStep({ at: 'refused', reason: failure.code });
      return true;
    }
    if (isOfField) return false;
    trouble(failureText(text, failure));
    return true;
  }

  async function sendCode(typed: string): Promise<void> {
    const address = typed.trim();
    clear();
    setEmail(address);
    if (!isLikeEmail(address)) return setError(text('errors.invalid_request'));
    passkey.cancel();
    if (isSending) return;
    setIsSending(true);
    const outcome = await code.send(address);
    setIsSending(false);
    if (!outcome.ok) {
      if (!fail(outcome, OF_ADDRESS.includes(outcome.code))) setError(failureText(text, outcome));
      return;
    }
    history.pushState({ step: 'code' }, '');
    setStep({ at: 'code', ...outcome.data });
  }

  function showWays(): void {
    clear();
    if ((history.state as { step?: string } | null)?.step === 'code') history.back();
    setStep({ at: 'methods', isAgain: true });
  }

  if (step.at === 'refused')
    return (
      <Refused data={data} reason={step.reason} email={email} backTo={backTo(step.reason)} onOtherWay={showWays} />
    );
  if (step.at === 'code')
    return (
      <CodeStep
        code={code}
        pending={step.pending}
        isEarlier={step.isEarlier}
        isMailOff={data.isMailOff}
        onSignedIn={(signedIn) => onSignedIn(signedIn, 'otp')}
        onFailure={(failure) => fail(failure, !isOfPage(failure))}
        onChangeEmail={showWays}
      />
    );
  return (
    <section class="step">
      <h1 id="title">{title}</h1>
      <p class="lead" id="lead">
        {lead}
      </p>
      <MethodsStep
        data={data}
        email={email}
        error={error}
        hint={hint}
        isSending={isSending}
        passkey={passkey}
        isFocused={step.isAgain}
        onEmail={setEmail}
        onSubmit={(typed) => void sendCode(typed)}
      />
    </section>
  );
}

/** Returns true for failures that are not the reader's fault, so no field is marked. */
function isOfPage({ code }: Failure): boolean {
  return ['network', 'unavailable', 'internal'].includes(code);
}
