import { CircleCheck } from 'lucide';
import { emphasized } from '../components/emphasis.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { useTexts } from '../components/texts.tsx';

export function AccountClosed({ email }: { email: string }) {
  const text = useTexts();
  return (
    <OutcomeStep
      id="account-closed"
      icon={CircleCheck}
      tone="neutral"
      title={text('account.close.doneTitle')}
      lead={emphasized(text, 'account.close.done', { email })}
    />
  );
}
