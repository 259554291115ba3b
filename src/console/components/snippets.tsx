/** Tabs with the same code in several languages, and frameworks of each. The browser remembers the reader's choices. */
import { useId, useState } from 'preact/hooks';
import { Select } from '../../pages/components/select-field.tsx';
import { CopyBox } from './copy.tsx';

/** One language. */
export type Snippet = { readonly name: string } & (
  | { readonly code: string }
  /** Frameworks of the language, the one without any first. */
  | { readonly variants: readonly Variant[] }
);

interface Variant {
  readonly name: string;
  readonly code: string;
}

const LANGUAGE = 'gatehouse.console.language';
const FRAMEWORK = 'gatehouse.console.framework';

export function Snippets({ label, of }: { readonly label: string; readonly of: readonly Snippet[] }) {
  const id = useId();
  const [language, chooseLanguage] = useRemembered(LANGUAGE);
  const shown = indexOf(of, language);
  const snippet = of[shown];

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = (shown + step + of.length) % of.length;
    chooseLanguage(of[next]?.name);
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
            onClick={() => chooseLanguage(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${shown}`}>
        {snippet && <Code key={snippet.name} id={id} label={`${label}, ${snippet.name}`} of={snippet} />}
      </div>
    </div>
  );
}

interface CodeProps {
  readonly id: string;
  readonly label: string;
  readonly of: Snippet;
}

/** The code of a language, in the framework that the reader chose for it. */
function Code({ id, label, of }: CodeProps) {
  const [framework, choose] = useRemembered(`${FRAMEWORK}.${of.name}`);
  if ('code' in of) return <CopyBox id={`${id}-code`} value={of.code} label={label} />;
  const shown = of.variants[indexOf(of.variants, framework)];
  return (
    shown && (
      <>
        <Select
          id={`${id}-framework`}
          label={`Framework for ${of.name}`}
          value={shown.name}
          choices={of.variants.map(({ name }) => ({ value: name, label: name }))}
          isSmall
          onChoose={choose}
        />
        <CopyBox key={shown.name} id={`${id}-code`} value={shown.code} label={`${label}, ${shown.name}`} />
      </>
    )
  );
}

/** Returns the place of the remembered choice, else the first. */
function indexOf(all: readonly { readonly name: string }[], name: string | null): number {
  return Math.max(
    0,
    all.findIndex((one) => one.name === name),
  );
}

/** A choice that this browser keeps for all snippets. */
function useRemembered(key: string): [chosen: string | null, choose: (name: string | undefined) => void] {
  const [chosen, setChosen] = useState(() => localStorage.getItem(key));
  function choose(name: string | undefined): void {
    if (name === undefined) return;
    localStorage.setItem(key, name);
    setChosen(name);
  }
  return [chosen, choose];
}
