/** The end of a form in the account: its button, and what may stand beside it. */
import type { ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';
import { useTexts } from '../components/texts.tsx';

interface SaveRowProps {
  readonly id: string;
  readonly isSaving: boolean;
  readonly children?: ComponentChildren;
}

export function SaveRow({ id, isSaving, children }: SaveRowProps) {
  const text = useTexts();
  return (
    <div class="save-row">
      <Button id={id} type="submit" busyText={isSaving && text('account.saving')}>
        {text('account.save')}
      </Button>
      {children}
    </div>
  );
}
