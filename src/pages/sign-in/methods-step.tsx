/** First step: the e-mail address and the other sign-in methods. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rememberDeparture } from '../browser/provider-return.ts';
import { type LastSignIn, lastSignIn, rememberLastSignIn } from '../browser/last-sign-in.ts';
import { browserTimezone } from '../browser/timing.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { EmailField } from '../components/field.tsx';
import { PasskeyMark, ProviderMark } from '../components/brand-marks.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInData } from './offer.ts';
import type { PasskeyWay } from './use-passkey.ts';

interface MethodsStepProps {
  readonly data: SignInData;
  readonly email: string;
  readonly error: string | null;
  readonly hint: string | null;
  readonly isSending: boolean;
  readonly passkey: PasskeyWay;
  /** Focuses the field, because heading and lead have been read before. */
  readonly isFocused: boolean;
  /** Another account is wanted than the one signed in last. */
  readonly isAnother?: boolean;
  onEmail(email: string): void;
  onSubmit(email: string): void;
}

export function MethodsStep(props: MethodsStepProps) {
  const { data, email, error, hint, isSending, passkey, isFocused, isAnother = false, onEmail, onSubmit } = props;
  const { application, methods } = data;
  const text = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const [last, setLast] = useState<LastSignIn | null>(null);
  useLayoutEffect(() => {
    const known = lastSignIn();
    setLast(known);
    if (known?.email && !email && !isAnother) onEmail(known.email);
  }, []);
  useLayoutEffect(() => {
    if (isFocused || error) field.current?.focus();
  }, [isFocused, error]);

  const { provider } = methods;
  const others = [passkey.isUsable, provider !== null].filter(Boolean).length;
  if (!methods.isCodeAllowed && others === 0)
    return (
      <>
        <p class="note" id="no-methods">
          {text('signin.noWays', { app: application.name })}
        </p>
        {application.supportUrl !== null && (
          <LinkButton look="plain" id="support" href={application.supportUrl}>
            {text('signin.writeTo', { app: application.name })}
          </LinkButton>
        )}
      </>
    );
  const isPasskeyFirst = data.isPasskeyFirst && passkey.isUsable && methods.isCodeAllowed;
  const lastUsed = (method: LastSignIn['method']) =>
    last?.method === method && (others > 0 && methods.isCodeAllowed ? <em>{text('signin.lastUsed')}</em> : null);
  const divider = methods.isCodeAllowed && (
    <p class="divider" id="divider">
      {text('signin.or')}
    </p>
  );
  const passkeyButton = passkey.isUsable && (
    <Button
      id="passkey"
      look={methods.isCodeAllowed && !isPasskeyFirst ? 'plain' : 'primary'}
      icon={<PasskeyMark />}
      busyText={passkey.busy !== null && text(busyTexts[passkey.busy])}
      autoFocus={isPasskeyFirst}
      onClick={passkey.ask}
    >
      {text('signin.passkey')}
      {!isPasskeyFirst && lastUsed('passkey')}
    </Button>
  );
  const emailForm = methods.isCodeAllowed && (
    <form
      id="email-form"
      method="post"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(field.current?.value ?? email);
      }}
    >
      <EmailField
        id="email"
        label={text('signin.emailLabel')}
        value={email}
        autocomplete="username webauthn"
        autoFocus={!isPasskeyFirst}
        error={error}
        inputRef={field}
        onInput={(event) => onEmail(event.currentTarget.value)}
      />
      <Button
        id="email-submit"
        type="submit"
        look={isPasskeyFirst ? 'plain' : 'primary'}
        busyText={isSending && text('signin.sending')}
      >
        {text('signin.continue')}
      </Button>
    </form>
  );
  const providerLink = provider && (
    <LinkButton
      id="provider"
      look="plain"
      href={provider.startUrl}
      icon={<ProviderMark name={provider.name} />}
      onClick={(event) => {
        addTimezone(event.currentTarget);
        rememberDeparture(provider.startUrl);
        rememberLastSignIn({ method: 'provider', email: null });
      }}
    >
      {text('signin.provider', { provider: provider.name })}
      {lastUsed('provider')}
    </LinkButton>
  );
  return (
    <div id="methods">
      {isPasskeyFirst ? (
        <>
          <div class="other-methods">
            {passkeyButton}
            {divider}
          </div>
          {emailForm}
          {providerLink && <div class="other-methods">{providerLink}</div>}
        </>
      ) : (
        <>
          {emailForm}
          {others > 0 && (
            <div class="other-methods">
              {divider}
              {passkeyButton}
              {providerLink}
            </div>
          )}
        </>
      )}
      <p class="hint" id="note" role="status">
        {hint}
      </p>
    </div>
  );
}

/** Adds the browser's time zone, stored at a person's first sign-in. */
function addTimezone(link: EventTarget | null): void {
  const timezone = browserTimezone();
  if (!(link instanceof HTMLAnchorElement) || !timezone) return;
  const address = new URL(link.href);
  address.searchParams.set('timezone', timezone);
  link.href = address.href;
}

const busyTexts = { waiting: 'signin.passkeyWaiting', checking: 'signin.passkeyChecking' } as const;
