import { CloudOff } from 'lucide';
import type { Failure } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { failureText } from '../components/failure-text.ts';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';

/** Shown while the account cannot be loaded: whoever is signed in stays so, and can try again. */
export function AccountAway({ failure, onRetry }: { failure: Failure; onRetry(): void }) {
  const text = useTexts();
  return (
    <OutcomeStep
      id="away"
      icon={CloudOff}
      tone="warn"
      title={text('account.awayTitle')}
      lead={failure.code === 'unavailable' ? text('account.failure.unavailable') : failureText(text, failure)}
    >
      <Button id="retry" onClick={onRetry}>
        {text('errors.problem.tryAgain')}
      </Button>
    </OutcomeStep>
  );
}
