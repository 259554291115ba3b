/** Form for a new e-mail address and the code sent to it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Failure } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { CodeField } from '../components/code-field.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { accountFailureText } from './failure-words.ts';
import { EmailField } from '../components/field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useAccount } from './account-context.tsx';

/** Name of the draft, which exists from the first letter until the change is done or cancelled. */
export const EMAIL_DRAFT = 'new-email';

interface EmailDraft {
  readonly email: string;
  readonly challengeId: string | null;
}

interface NewEmailFormProps {
  onChanged(email: string): void;
  onCancel(): void;
}

export function NewEmailForm({ onChanged, onCancel }: NewEmailFormProps) {
  const text = useTexts();
  const { account, api, drafts, withProof } = useAccount();
  const draft = drafts.get<EmailDraft>(EMAIL_DRAFT);
  const [email, setEmail] = useState(draft?.email ?? '');
  const [challengeId, setChallengeId] = useState(draft?.challengeId ?? null);
  const [digits, setDigits] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (challengeId === null) field.current?.focus();
  }, [challengeId, error]);
  useLayoutEffect(() => drafts.set(EMAIL_DRAFT, email === '' ? null : { email, challengeId }), [email, challengeId]);

  async function ask(): Promise<void> {
    const target = email.trim();
    if (isAtWork) return;
    if (target.toLowerCase() === account.email) return setError(text('account.email.same'));
    // Validated here, so that no code is mailed for an invalid address.
    if (field.current?.validity.valid === false) return setError(text('errors.invalid_request'));
    setError(null);
    setIsAtWork(true);
    const outcome = await withProof({ purpose: 'email_change', target }, () =>
      api.send<{ challengeId: string }>('POST', '/api/account/email', { email: target }),
    );
    setIsAtWork(false);
    if (outcome === null) return;
    if (!outcome.ok) return setError(reasonOf(outcome));
    setChallengeId(outcome.data.challengeId);
  }

  function reasonOf(failure: Failure): string {
    return failure.code === 'invalid_request' ? text('errors.invalid_request') : accountFailureText(text, failure);
  }

  async function confirm(code: string): Promise<void> {
    if (isAtWork || challengeId === null) return;
    setError(null);
    setIsAtWork(true);
    const outcome = await api.send<{ email: string }>('POST', '/api/account/email/confirm', { challengeId, code });
    setIsAtWork(false);
    if (!outcome.ok) return refused(outcome);
    drafts.set(EMAIL_DRAFT, null);
    onChanged(outcome.data.email);
  }

  /** A wrong code can be retyped; any other failure restarts with the address. */
  function refused(failure: Failure): void {
    if (failure.code === 'conflict') return restart(text('account.email.taken'));
    if (failure.code === 'reauthentication_required') return restart(text('account.email.proofLost'));
    setError(accountFailureText(text, failure));
    setAttempt((before) => before + 1);
  }

  function cancel(): void {
    drafts.set(EMAIL_DRAFT, null);
    onCancel();
  }

  function restart(reason: string | null): void {
    setChallengeId(null);
    setDigits('');
    setError(reason);
  }

  return (
    <form
      id="new-email-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void (challengeId === null ? ask() : confirm(digits));
      }}
    >
      {challengeId === null ? (
        <EmailField
          id="new-email"
          label={text('account.email.new')}
          value={email}
          autocomplete="email"
          error={error}
          inputRef={field}
          hint={text('account.email.newHint', { email: account.email })}
          onInput={(event) => {
            setEmail(event.currentTarget.value);
            setError(null);
          }}
        />
      ) : (
        <>
          <p class="lead" id="lead">
            {emphasized(text, 'account.email.codeLead', { email: email.trim() })}
          </p>
          <CodeField
            label={text('account.codeLabel')}
            value={digits}
            error={error}
            isReadOnly={isAtWork}
            focusKey={attempt}
            onDigits={setDigits}
            onComplete={(code) => void confirm(code)}
          />
          <p class="note">{text('account.email.effects')}</p>
        </>
      )}
      <div class="form-actions">
        <Button
          id="new-email-submit"
          type="submit"
          busyText={isAtWork && text(challengeId === null ? 'signin.sending' : 'account.email.changing')}
        >
          {text(challengeId === null ? 'signin.continue' : 'account.email.confirm')}
        </Button>
        {challengeId !== null && (
          <Button look="plain" onClick={() => restart(null)}>
            {text('account.email.restart')}
          </Button>
        )}
        <Button look="plain" onClick={cancel}>
          {text('account.cancel')}
        </Button>
      </div>
    </form>
  );
}
