/** Last row of an account form, with its save button. */
import type { ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';
import { useTexts } from '../components/texts.tsx';

interface SaveRowProps {
  readonly id: string;
  readonly isSaving: boolean;
  /** Unsaved changes exist; emphasizes the button. */
  readonly isChanged: boolean;
  readonly children?: ComponentChildren;
}

export function SaveRow({ id, isSaving, isChanged, children }: SaveRowProps) {
  const text = useTexts();
  return (
    <div class="save-row">
      <Button
        id={id}
        type="submit"
        look={isChanged || isSaving ? 'primary' : 'plain'}
        busyText={isSaving && text('account.saving')}
      >
        {text('account.save')}
      </Button>
      {children}
    </div>
  );
}
