/** Section for closing the account; last on the page and styled as dangerous. */
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { accountFailureText } from './failure-words.ts';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useAccount } from './account-context.tsx';
import { CloseDialog, type ClosingAsked } from './close-dialog.tsx';

export function CloseSection() {
  const text = useTexts();
  const { api, withProof } = useAccount();
  /** Kept while its code is valid, so that reopening the dialog sends no second mail. */
  const [asked, setAsked] = useState<ClosingAsked | null>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [isAtWork, setIsAtWork] = useState(false);
  const [error, setError] = useState<string | null>(null);

  /** @returns the error text, if refused. */
  async function ask(): Promise<string | null> {
    const outcome = await withProof({ purpose: 'account_deletion' }, () =>
      api.send<ClosingAsked>('POST', '/api/account/deletion'),
    );
    if (outcome === null) return null;
    if (!outcome.ok)
      return outcome.code === 'invalid_state' ? text('account.close.refused') : accountFailureText(text, outcome);
    setAsked(outcome.data);
    setIsOpen(true);
    return null;
  }

  async function begin(): Promise<void> {
    if (isAtWork) return;
    setError(null);
    if (asked && Date.parse(asked.expiresAt) > Date.now()) return setIsOpen(true);
    setIsAtWork(true);
    setError(await ask());
    setIsAtWork(false);
  }

  return (
    <Section id="close" title={text('account.close.title')} lead={text('account.close.lead')} isDanger>
      <Button
        id="close-account"
        look="danger"
        busyText={isAtWork && text('account.close.asking')}
        onClick={() => void begin()}
      >
        {text('account.close.button')}
      </Button>
      <p class="field-error" id="close-error" role="alert">
        {error}
      </p>
      {isOpen && asked && <CloseDialog asked={asked} askAgain={ask} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}
