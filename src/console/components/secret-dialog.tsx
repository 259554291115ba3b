/** One-time secret in a dialog that warns before it is closed. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import { SecretBox } from './secret-box.tsx';
import { useCloseDialog } from './use-dialog.tsx';

interface SecretDialogProps {
  readonly id: string;
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly what: string;
  readonly value: string;
  /** Called once the dialog is closed. */
  readonly onStored: () => unknown;
}

export function SecretDialog({ id, title, lead, what, value, onStored }: SecretDialogProps) {
  const close = useCloseDialog();
  const [wasCopied, setWasCopied] = useState(false);
  const [isWarned, setIsWarned] = useState(false);

  // Handled here, because browsers close a dialog on a second Escape regardless of its cancel handler.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      setIsWarned(true);
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);

  return (
    <Dialog id={id} title={title} onClose={() => setIsWarned(true)}>
      <p class="lead">{lead}</p>
      <SecretBox id={id} what={what} value={value} isFocused onCopied={() => setWasCopied(true)} />
      <p class="field-error" role="alert">
        {isWarned && `Copy the ${what} first, then say that you have stored it.`}
      </p>
      <div class="dialog-actions">
        <Button
          id={`${id}-stored`}
          look={wasCopied ? 'primary' : 'plain'}
          onClick={() => {
            close();
            onStored();
          }}
        >
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
