/** Texts with a copy button: ids, snippets and one-time secrets. */
import { Check, Copy as CopyIcon } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { copyText } from '../../pages/browser/clipboard.ts';
import { Button } from '../../pages/components/button.tsx';
import { Icon } from '../../pages/components/icon.tsx';

const SHOWN_MS = 2000;

/** @returns the state of the last copy, and a function that copies. */
export function useCopy(element: {
  readonly current: HTMLElement | null;
}): ['copied' | 'failed' | null, () => Promise<void>] {
  const [state, setState] = useState<'copied' | 'failed' | null>(null);
  async function copy(): Promise<void> {
    const isCopied = element.current !== null && (await copyText(element.current));
    setState(isCopied ? 'copied' : 'failed');
    setTimeout(() => setState(null), SHOWN_MS);
  }
  return [state, copy];
}

export function Copyable({ value, label }: { readonly value: string; readonly label: string }) {
  const box = useRef<HTMLElement>(null);
  const [state, copy] = useCopy(box);
  return (
    <span class="copyable">
      <code ref={box} translate={false}>
        {value}
      </code>
      <button class="icon-button small" type="button" aria-label={`Copy ${label}`} onClick={() => void copy()}>
        <Icon of={state === 'copied' ? Check : CopyIcon} size={16} />
      </button>
      <span class="visually-hidden" role="status">
        {state === 'copied' && 'Copied'}
      </span>
    </span>
  );
}

export function CopyBox({ id, value, label }: { readonly id: string; readonly value: string; readonly label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const [state, copy] = useCopy(box);
  return (
    <div class="copy-box">
      <pre id={id} ref={box} translate={false} tabIndex={0}>
        {value}
      </pre>
      <Button
        look="small"
        aria-label={`Copy ${label}`}
        icon={<Icon of={state === 'copied' ? Check : CopyIcon} size={16} />}
        onClick={() => void copy()}
      >
        {state === 'copied' ? 'Copied' : 'Copy'}
      </Button>
      <p class="field-error" role="status">
        {state === 'failed' && 'The browser did not copy it. It is selected: press Ctrl+C or ⌘C.'}
      </p>
    </div>
  );
}
