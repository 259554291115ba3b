/** A secret that is shown this once: copying it is the obvious act, and closing a decision. */
import { Check, Copy as CopyIcon } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import { Icon } from '../../pages/components/icon.tsx';
import { useCopy } from './copy.tsx';

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
  const box = useRef<HTMLPreElement>(null);
  const [state, copy] = useCopy(box);
  const [wasCopied, setWasCopied] = useState(false);
  const [isWarned, setIsWarned] = useState(false);

  useEffect(() => {
    if (state === 'copied') setWasCopied(true);
  }, [state]);
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
      <div class="secret">
        <pre id={`${id}-value`} ref={box} translate={false}>
          {value}
        </pre>
        <Button
          id={`${id}-copy`}
          look={wasCopied ? 'plain' : 'primary'}
          icon={<Icon of={state === 'copied' ? Check : CopyIcon} size={16} />}
          {...{ autofocus: true }}
          onClick={() => void copy()}
        >
          {state === 'copied' ? 'Copied' : `Copy ${what}`}
        </Button>
        <p class="secret-note" role="status">
          {state === 'failed'
            ? 'The browser did not copy it. It is selected: press Ctrl+C or ⌘C.'
            : `This ${what} is shown once and cannot be shown again.`}
        </p>
      </div>
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
