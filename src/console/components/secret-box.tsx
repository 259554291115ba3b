/** One-time secret with a prominent copy button. */
import { Check, Copy as CopyIcon } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Icon } from '../../pages/components/icon.tsx';
import { useCopy } from './copy.tsx';

interface SecretBoxProps {
  /** Prefix of the element ids `<id>-value` and `<id>-copy`. */
  readonly id: string;
  readonly what: string;
  readonly value: string;
  readonly isFocused?: boolean;
  readonly onCopied?: () => void;
}

export function SecretBox({ id, what, value, isFocused = false, onCopied }: SecretBoxProps) {
  const box = useRef<HTMLPreElement>(null);
  const [state, copy] = useCopy(box);
  const [wasCopied, setWasCopied] = useState(false);
  useEffect(() => {
    if (state !== 'copied') return;
    setWasCopied(true);
    onCopied?.();
  }, [state]);
  return (
    <div class="secret">
      <pre id={`${id}-value`} ref={box} translate={false}>
        {value}
      </pre>
      <Button
        id={`${id}-copy`}
        look={wasCopied ? 'plain' : 'primary'}
        icon={<Icon of={state === 'copied' ? Check : CopyIcon} size={16} />}
        {...(isFocused && { autofocus: true })}
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
  );
}
