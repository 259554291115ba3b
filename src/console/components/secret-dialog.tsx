/** A secret that is shown this once: copying it is the obvious act, and closing a decision. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import { SecretBox } from './secret-box.tsx';

interface SecretDialogProps {
  readonly id: string;
  readonly title: string;
  /** What it is for, and where to keep it. */
  readonly lead: ComponentChildren;
  /** What it is called: "token". */
  readonly what: string;
  readonly value: string;
  readonly onStored: () => void;
}

export function SecretDialog({ id, title, lead, what, value, onStored }: SecretDialogProps) {
  const [wasCopied, setWasCopied] = useState(false);
  const [isWarned, setIsWarned] = useState(false);

  // A second Escape would close the element whatever it is told.
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
        <Button id={`${id}-stored`} look={wasCopied ? 'primary' : 'plain'} onClick={onStored}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
