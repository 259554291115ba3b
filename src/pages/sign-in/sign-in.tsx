/** Sign-in component: one step at a time, or a refusal. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Failure, SignedIn } from '../browser/api.ts';
import { type AccessRequest, forgetRequest, rememberedRequest } from '../browser/access-request.ts';
import type { HostedPage } from '../browser/browser-accounts.ts';
import { isLikeEmail } from '../browser/email-address.ts';
import { rememberLastSignIn } from '../browser/last-sign-in.ts';
import { isReload, loadPending, type Pending } from '../browser/pending.ts';
import { keepTypedAddress, typedAddress, typedBefore } from '../browser/typed-address.ts';
import { failureText } from '../components/failure-text.ts';
import { useTrouble } from '../components/frame.tsx';
import { useTexts } from '../components/texts.tsx';
import { CodeStep } from './code-step.tsx';
import { GateLine } from './gate-line.tsx';
import type { PublicState, SignInData } from './offer.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { Refused } from './refused.tsx';
import { RequestStep } from './request-step.tsx';
import { interruptedCode, useEmailCode } from './use-email-code.ts';
import { usePasskey } from './use-passkey.ts';
import { MethodsStep } from './methods-step.tsx';
import { isOpenToAll, isOutOfService, usePublicState } from './use-public-state.ts';
import { readStanding } from './use-standing.ts';

interface SignInProps {
  readonly data: SignInData;
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly email?: string | null;
  /** Another account is wanted than the one signed in last, so its address is not filled in. */
  readonly isAnother?: boolean;
  /** Hosted page that keeps the session in this browser. */
  readonly page?: HostedPage;
  /** Returns an earlier failure, such as a provider's; called once, in the browser. */
  readonly earlierFailure?: () => Failure | null;
  /** Returns the address that a refused person can return to. */
  readonly backTo: (reason: string) => string | null;
  onSignedIn(signedIn: SignedIn, method: 'otp' | 'passkey'): void;
}

type Step =
  | { readonly at: 'methods'; readonly isAgain: boolean }
  | { readonly at: 'code'; readonly pending: Pending; readonly isEarlier: boolean }
  | { readonly at: 'request' }
  | {
      readonly at: 'refused';
      readonly reason: Refusal;
      readonly request: AccessRequest | null;
      /** The request was read or made just now. */
      readonly isFresh: boolean;
    };

/** Failures that concern the address and appear at its field. */
const OF_ADDRESS = ['invalid_request', 'rate_limited'];

export function SignIn({
  data,
  title,
  lead,
  email: given,
  isAnother = false,
  page,
  earlierFailure,
  backTo,
  onSignedIn,
}: SignInProps) {
  const text = useTexts();
  const trouble = useTrouble();
  const { clientId } = data.application;
  const [step, setStep] = useState<Step>({ at: 'methods', isAgain: false });
  const shown = useRef(step);
  shown.current = step;
  const [email, setEmail] = useState(() => typedBefore('email') ?? typedAddress() ?? given ?? '');
  const latest = useRef(email);
  latest.current = email;
  useEffect(() => keepTypedAddress(() => latest.current), []);
  const [error, setError] = useState<string | null>(null);
  const [hint, setHint] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const code = useEmailCode(data, page);
  const { state, noteRefusal } = usePublicState(data.application);
  const [remembered, setRemembered] = useState<AccessRequest | null>(null);
  const passkey = usePasskey(
    data,
    data.methods.isCodeAllowed,
    {
      onBegin: clear,
      onUnused: () => setHint(text('signin.passkeyUnused')),
      onFailure: (failure) => fail(failure),
      onSignedIn: (signedIn) => {
        rememberLastSignIn({ method: 'passkey', email: null });
        leave(signedIn, 'passkey');
      },
    },
    page,
  );

  // Each step is a history entry: Back leads from the code to the address, Forward to the code while it is valid.
  useLayoutEffect(() => {
    const failure = earlierFailure?.() ?? null;
    const interrupted = interruptedCode(clientId);
    if (failure) fail(failure);
    else if (interrupted) showCode(interrupted);
    else void resumeRequest();
    const follow = ({ state }: PopStateEvent) => {
      const pending = entryOf(state) === CODE ? loadPending(clientId) : null;
      if (pending) return showCode(pending);
      setStep((now) => (now.at === 'methods' ? now : { at: 'methods', isAgain: true }));
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  /** Shows the request that this browser remembers: after a reload at once, on a later visit as it stands now. */
  async function resumeRequest(): Promise<void> {
    const known = rememberedRequest(clientId);
    if (!known || !state) return;
    const address = latest.current || known.email;
    setEmail(address);
    if (isOpenToAll(state) || address !== known.email) return;
    setRemembered(known);
    if (isReload()) return showRequest(known, false);
    if (known.ticket === null) return;
    const standing = await readStanding(data.application.id, known.email, known.ticket);
    // A sign-in that was begun meanwhile goes on.
    const isUntouched = shown.current.at === 'methods' && latest.current === known.email;
    if (standing.ok && standing.data.status !== 'none' && isUntouched)
      showRequest({ ...known, ...standing.data }, true);
  }

  function showRequest(request: AccessRequest, isFresh: boolean): void {
    setStep({ at: 'refused', reason: 'waitlist', request, isFresh });
  }

  function leave(signedIn: SignedIn, method: 'otp' | 'passkey'): void {
    forgetRequest(clientId);
    onSignedIn(signedIn, method);
  }

  function showCode(pending: Pending): void {
    clear();
    setEmail(pending.email);
    setStep({ at: 'code', pending, isEarlier: false });
  }

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
      const { code: reason, interest } = failure;
      noteRefusal(reason);
      if (reason === 'application_archived' && state) {
        setStep({ at: 'methods', isAgain: true });
      } else setStep({ at: 'refused', reason, request: interest ? { email, ...interest } : null, isFresh: true });
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
      if (!fail(outcome, OF_ADDRESS.includes(outcome.code) && !isOfPage(outcome))) setError(failureText(text, outcome));
      return;
    }
    history.pushState({ step: CODE }, '');
    setStep({ at: 'code', ...outcome.data });
  }

  function showWays(): void {
    clear();
    if (entryOf(history.state)) history.back();
    setRemembered(rememberedRequest(clientId));
    setStep({ at: 'methods', isAgain: true });
  }

  function showRequestForm(): void {
    clear();
    passkey.cancel();
    history.pushState({ step: REQUEST }, '');
    setStep({ at: 'request' });
  }

  const refused = refusalShown(step, state);
  if (refused)
    return (
      <Refused
        {...refused}
        data={data}
        state={state}
        email={email}
        backTo={backTo(refused.reason)}
        onOtherWay={showWays}
      />
    );
  if (step.at === 'request')
    return (
      <RequestStep
        data={data}
        kind={state?.signinGate === 'private_beta' ? 'request' : 'notify'}
        email={email}
        onEmail={setEmail}
        onRecorded={(request) => showRequest(request, true)}
        onBack={showWays}
      />
    );
  if (step.at === 'code')
    return (
      <CodeStep
        code={code}
        pending={step.pending}
        isEarlier={step.isEarlier}
        isMailOff={data.isMailOff}
        onSignedIn={(signedIn) => leave(signedIn, 'otp')}
        onFailure={(failure) => fail(failure, !isOfPage(failure))}
        onChangeEmail={showWays}
      />
    );
  return (
    <section class="step">
      <h1 id="title">{title}</h1>
      <GateLine state={state} request={remembered} onAsk={showRequestForm} />
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
        isFocused={(step.at === 'methods' && step.isAgain) || isAnother}
        isAnother={isAnother}
        onEmail={setEmail}
        onSubmit={(typed) => void sendCode(typed)}
      />
    </section>
  );
}

/** Returns true for failures that are not the reader's fault, so no field is marked. */
function isOfPage({ code, isOfNetwork }: Failure): boolean {
  return isOfNetwork || ['network', 'unavailable', 'internal'].includes(code);
}

/** Steps that are entries of the browser's history. */
const CODE = 'code';
const REQUEST = 'request';
const entryOf = (state: unknown) => (state as { step?: string } | null)?.step;

/** Returns the refusal that shows instead of a step, if any: its own, or that of an application out of service. */
function refusalShown(step: Step, state: PublicState | null) {
  if (step.at === 'refused') return step;
  if (isOutOfService(state)) return { reason: 'application_archived', request: null, isFresh: false } as const;
  const isOpened = step.at === 'request' && isOpenToAll(state);
  return isOpened ? ({ reason: 'waitlist', request: null, isFresh: false } as const) : null;
}
