/** Requests access, or a mail at the opening, for an address that is not proved. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AccessRequest } from '../browser/access-request.ts';
import { isLikeEmail } from '../browser/email-address.ts';
import { Button } from '../components/button.tsx';
import { failureText } from '../components/failure-text.ts';
import { EmailField } from '../components/field.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInData } from './offer.ts';
import { type AccessKind, postRequest } from './post-request.ts';

interface RequestStepProps {
  readonly data: SignInData;
  readonly kind: AccessKind;
  readonly email: string;
  onEmail(email: string): void;
  onRecorded(request: AccessRequest): void;
  onBack(): void;
}

export function RequestStep({ data, kind, email, onEmail, onRecorded, onBack }: RequestStepProps) {
  const text = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const isRequest = kind === 'request';

  async function send(typed: string): Promise<void> {
    const address = typed.trim();
    onEmail(address);
    if (!isLikeEmail(address)) return fail(text('errors.invalid_request'));
    if (isAtWork) return;
    setIsAtWork(true);
    const outcome = await postRequest(data, kind, address);
    setIsAtWork(false);
    if (!outcome.ok) return fail(failureText(text, outcome));
    const status = isRequest ? 'pending' : 'notify';
    onRecorded({ email: address, status, since: new Date().toISOString(), ticket: null });
  }

  function fail(message: string): void {
    setError(message);
    field.current?.focus();
  }

  return (
    <section class="step" id="request">
      <h1>{text(isRequest ? 'signin.requestAccess' : 'signin.tellMe')}</h1>
      <p class="lead">{text(isRequest ? 'signin.askLead' : 'signin.tellLead', { app: data.application.name })}</p>
      <form
        id="request-form"
        method="post"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void send(field.current?.value ?? email);
        }}
      >
        <EmailField
          id="request-email"
          label={text('signin.emailLabel')}
          value={email}
          autocomplete="email"
          error={error}
          inputRef={field}
          onInput={(event) => onEmail(event.currentTarget.value)}
        />
        <Button id="request-submit" type="submit" busyText={isAtWork && text('signin.requesting')}>
          {text(isRequest ? 'signin.requestAccess' : 'signin.tellMe')}
        </Button>
        <Button id="request-back" look="plain" onClick={onBack}>
          {text('signin.toSignIn')}
        </Button>
      </form>
    </section>
  );
}
