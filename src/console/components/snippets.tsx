/** Tabs with the same code in several languages. */
import { useId, useState } from 'preact/hooks';
import { CopyBox } from './copy.tsx';

export interface Snippet {
  readonly name: string;
  readonly code: string;
}

export function Snippets({ label, of }: { readonly label: string; readonly of: readonly Snippet[] }) {
  const id = useId();
  const [shown, setShown] = useState(0);
  const snippet = of[shown];
  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = (shown + step + of.length) % of.length;
    setShown(next);
    document.getElementById(`${id}-${next}`)?.focus();
  }
  return (
    <div class="snippets">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {of.map(({ name }, index) => (
          <button
            key={name}
            id={`${id}-${index}`}
            type="button"
            role="tab"
            aria-selected={index === shown}
            aria-controls={`${id}-panel`}
            tabIndex={index === shown ? 0 : -1}
            onClick={() => setShown(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${shown}`}>
        {snippet && (
          <CopyBox key={snippet.name} id={`${id}-code`} value={snippet.code} label={`${label}, ${snippet.name}`} />
        )}
      </div>
    </div>
  );
}
