/** Confirms an irreversible action and shows why it failed. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { useTexts } from './texts.tsx';

interface ConfirmDialogProps {
  readonly id: string;
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly warning?: string | null;
  readonly confirmText: string;
  readonly busyText: string;
  /** Resolves once done or refused; the caller closes the dialog. */
  onConfirm(): Promise<void>;
  onClose(): void;
}

/** Focuses the safe answer. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { id, title, lead, children, warning = null, confirmText, busyText, onConfirm, onClose } = props;
  const text = useTexts();
  const [isAtWork, setIsAtWork] = useState(false);

  async function confirm(): Promise<void> {
    if (isAtWork) return;
    setIsAtWork(true);
    await onConfirm();
    setIsAtWork(false);
  }

  return (
    <Dialog id={id} title={title} onClose={onClose}>
      <p class="lead">{lead}</p>
      {children}
      <p class="field-error" role="alert">
        {warning}
      </p>
      <div class="dialog-actions">
        <Button look="plain" autoFocus onClick={onClose}>
          {text('account.cancel')}
        </Button>
        <Button id={`${id}-confirm`} look="danger" busyText={isAtWork && busyText} onClick={() => void confirm()}>
          {confirmText}
        </Button>
      </div>
    </Dialog>
  );
}
