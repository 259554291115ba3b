/** Confirms closing the account: shows what is deleted and kept, then asks for typed text and a mailed code. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { CodeField } from '../components/code-field.tsx';
import { Dialog } from '../components/dialog.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { accountFailureText } from './failure-words.ts';
import { Field } from '../components/field.tsx';
import { ResendLink } from '../components/resend-link.tsx';
import { useTexts } from '../components/texts.tsx';
import { useAccount } from './account-context.tsx';

export interface ClosingAsked {
  readonly challengeId: string;
  readonly expiresAt: string;
  readonly recordDays: number;
}

interface CloseDialogProps {
  readonly asked: ClosingAsked;
  /** @returns the error text, if refused. */
  askAgain(): Promise<string | null>;
  onClose(): void;
}

export function CloseDialog({ asked, askAgain, onClose }: CloseDialogProps) {
  const text = useTexts();
  const { account, api, closed } = useAccount();
  const { email } = account;
  const field = useRef<HTMLInputElement>(null);
  const [isConfirmed, setIsConfirmed] = useState(false);
  const [digits, setDigits] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  const [attempt, setAttempt] = useState(0);
  // The error below the field makes the dialog longer after the field was focused.
  useLayoutEffect(() => {
    if (error) field.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);

  function confirm(): void {
    const isTyped = field.current?.value.trim().toLowerCase() === email.toLowerCase();
    setError(isTyped ? null : text('account.close.typeWrong', { email }));
    setIsConfirmed(isTyped);
    if (!isTyped) field.current?.focus();
  }

  async function close(): Promise<void> {
    if (isAtWork) return;
    if (digits.length < 6) {
      setAttempt((before) => before + 1);
      return setError(text('signin.codeIncomplete'));
    }
    setIsAtWork(true);
    const { challengeId } = asked;
    const outcome = await api.send('DELETE', '/api/account', { challengeId, code: digits });
    setIsAtWork(false);
    if (outcome.ok) return closed(email);
    setError(outcome.code === 'invalid_state' ? text('account.close.refused') : accountFailureText(text, outcome));
    setAttempt((before) => before + 1);
  }

  async function sendAgain(): Promise<void> {
    setDigits('');
    setError(await askAgain());
    setAttempt((before) => before + 1);
  }

  return (
    <Dialog id="close-dialog" title={text('account.close.dialogTitle')} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed) void close();
          else confirm();
        }}
      >
        {isConfirmed ? (
          <>
            <p class="lead" id="lead">
              {emphasized(text, 'account.close.codeLead', { email })}
            </p>
            <CodeField
              label={text('account.codeLabel')}
              value={digits}
              error={error}
              isReadOnly={isAtWork}
              focusKey={attempt}
              onDigits={setDigits}
              onComplete={() => setError(null)}
            />
            <ResendLink onResend={() => void sendAgain()} />
          </>
        ) : (
          <>
            <Consequences recordDays={asked.recordDays} />
            <Field
              id="close-typed"
              label={text('account.close.typeLabel')}
              hint={<span translate={false}>{email}</span>}
              autocomplete="off"
              autoCapitalize="none"
              autoCorrect="off"
              spellcheck={false}
              inputMode="email"
              error={error}
              inputRef={field}
            />
          </>
        )}
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            {text('account.cancel')}
          </Button>
          <Button
            id="close-submit"
            type="submit"
            look={isConfirmed ? 'danger' : 'primary'}
            busyText={isAtWork && text('account.close.closing')}
          >
            {text(isConfirmed ? 'account.close.confirm' : 'signin.continue')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Translates the consequences that the API lists; a test keeps both in sync. */
function Consequences({ recordDays }: { recordDays: number }) {
  const text = useTexts();
  return (
    <div class="consequences">
      {/* Focused first, so that it is read and not scrolled past by focusing the field. */}
      <h3 tabIndex={-1} autoFocus>
        {text('account.close.deleted')}
      </h3>
      <ul>
        <li>{text('account.close.deleted1')}</li>
        <li>{text('account.close.deleted2')}</li>
        <li>{text('account.close.deleted3')}</li>
        <li>{text('account.close.deleted4')}</li>
      </ul>
      <h3>{text('account.close.kept')}</h3>
      <ul>
        <li>{text('account.close.kept1')}</li>
        <li>{text('account.close.kept2')}</li>
        <li>{text('account.close.kept3', { days: recordDays })}</li>
        <li>{text('account.close.kept4')}</li>
      </ul>
    </div>
  );
}
