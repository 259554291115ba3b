/** Reauthenticates with a code mailed to the reader's current address. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { CodeField } from '../components/code-field.tsx';
import { Dialog } from '../components/dialog.tsx';
import { emphasized } from '../components/emphasis.tsx';
import { accountFailureText } from './failure-words.ts';
import { ResendLink } from '../components/resend-link.tsx';
import { useTexts } from '../components/texts.tsx';
import type { AccountApi } from './account-api.ts';
import type { ProofWanted } from './account-context.tsx';

interface ProofDialogProps {
  readonly api: AccountApi;
  readonly email: string;
  readonly proof: ProofWanted;
  onEnd(isProved: boolean): void;
}

/** Unused challenges by purpose, so that a reopened dialog accepts the code already mailed. */
const sent = new Map<string, string>();

export function ProofDialog({ api, email, proof, onEnd }: ProofDialogProps) {
  const text = useTexts();
  const thing = `${proof.purpose} ${proof.target ?? ''}`;
  const [challengeId, setChallengeId] = useState<string | null>(null);
  const [digits, setDigits] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => void send(false), []);

  async function send(isRepeat: boolean): Promise<void> {
    setError(null);
    setDigits('');
    const outcome = await api.send<{ challengeId: string }>('POST', '/api/account/proof', proof);
    if (outcome.ok) sent.set(thing, outcome.data.challengeId);
    const known = sent.get(thing) ?? null;
    setChallengeId(known);
    // Requested again too soon: the previous code is still valid.
    if (!outcome.ok && (known === null || outcome.code !== 'rate_limited' || isRepeat))
      setError(accountFailureText(text, outcome));
    setAttempt((before) => before + 1);
  }

  async function confirm(code: string): Promise<void> {
    if (isAtWork || challengeId === null) return;
    setIsAtWork(true);
    const outcome = await api.send('POST', '/api/account/proof/confirm', { challengeId, code });
    setIsAtWork(false);
    if (outcome.ok) {
      sent.delete(thing);
      return onEnd(true);
    }
    setError(accountFailureText(text, outcome));
    setAttempt((before) => before + 1);
  }

  return (
    <Dialog id="proof" title={text('account.proof.title')} onClose={() => onEnd(false)}>
      <p class="lead" id="lead">
        {emphasized(text, 'account.proof.lead', { email })}
      </p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void confirm(digits);
        }}
      >
        <CodeField
          label={text('account.codeLabel')}
          value={digits}
          error={error}
          isReadOnly={isAtWork || challengeId === null}
          focusKey={attempt}
          onDigits={setDigits}
          onComplete={(code) => void confirm(code)}
        />
        <ResendLink onResend={() => void send(true)} />
        <div class="dialog-actions">
          <Button look="plain" onClick={() => onEnd(false)}>
            {text('account.cancel')}
          </Button>
          <Button id="proof-submit" type="submit" busyText={isAtWork && text('signin.verifying')}>
            {text('account.proof.confirm')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
