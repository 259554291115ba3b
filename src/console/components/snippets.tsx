/** Tabs with the same code in several languages. The browser remembers the reader's choice for all of them. */
import { useId, useState } from 'preact/hooks';
import { CopyBox } from './copy.tsx';

export interface Snippet {
  readonly name: string;
  readonly code: string;
}

const LANGUAGE = 'gatehouse.console.language';

export function Snippets({ label, of }: { readonly label: string; readonly of: readonly Snippet[] }) {
  const id = useId();
  const [chosen, setChosen] = useState(() => localStorage.getItem(LANGUAGE));
  const shown = Math.max(
    0,
    of.findIndex(({ name }) => name === chosen),
  );
  const snippet = of[shown];

  function choose(name: string | undefined): void {
    if (name === undefined) return;
    localStorage.setItem(LANGUAGE, name);
    setChosen(name);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = (shown + step + of.length) % of.length;
    choose(of[next]?.name);
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
            onClick={() => choose(name)}
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
