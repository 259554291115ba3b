/** Box with text such as a key or a command, and a copy button. */
import { Copy } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { copyText } from '../browser/clipboard.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useTexts } from './texts.tsx';

interface CopySampleProps {
  readonly id: string;
  readonly label: string;
  readonly content: string;
}

/** Selects the text if the browser refuses to copy. */
export function CopySample({ id, label, content }: CopySampleProps) {
  const text = useTexts();
  const box = useRef<HTMLPreElement>(null);
  const [state, setState] = useState<'copied' | 'failed' | null>(null);

  async function copy(): Promise<void> {
    const isCopied = box.current !== null && (await copyText(box.current));
    setState(isCopied ? 'copied' : 'failed');
    if (isCopied) setTimeout(() => setState(null), 2_000);
  }

  return (
    <div class="sample-box">
      <pre class="sample" id={id} translate={false} ref={box}>
        {content}
      </pre>
      <Button
        id={`copy-${id}`}
        look="small"
        aria-label={label}
        icon={<Icon of={Copy} size={16} />}
        onClick={() => void copy()}
      >
        {text(state === 'copied' ? 'signin.setup.copied' : 'signin.setup.copy')}
      </Button>
      <p class="field-error" role="status">
        {state === 'failed' && text('signin.setup.copyFailed')}
      </p>
    </div>
  );
}
