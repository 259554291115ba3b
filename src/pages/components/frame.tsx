/** Layout of every hosted page: card, page-wide message above it, and footer. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { Locale } from '../../core/locale.ts';
import { GateMark } from './icon.tsx';
import { LanguageSwitch } from './language-switch.tsx';
import { useTexts } from './texts.tsx';

export interface LegalLinks {
  readonly terms: string | null;
  readonly privacy: string | null;
  readonly imprint: string | null;
}

interface FrameProps {
  /** Shown at the top of the card on every step. */
  readonly brand: ComponentChildren;
  readonly links?: LegalLinks | undefined;
  /** Current language; absent without a language switch. */
  readonly locale?: Locale;
  readonly isWide?: boolean;
  /** Shown without JavaScript; absent on a page that works without it. */
  readonly scriptNeeded?: string;
  readonly children: ComponentChildren;
}

const Trouble = createContext<(text: string | null) => void>(() => {});

/** Returns a function that shows a message above the card; null removes it. */
export const useTrouble = () => useContext(Trouble);

export function Frame({ brand, links, locale, isWide = false, scriptNeeded, children }: FrameProps) {
  const [trouble, setTrouble] = useState<string | null>(null);
  return (
    <Trouble.Provider value={setTrouble}>
      <main class={isWide ? 'wide' : undefined}>
        <div class="card">
          <div class="brand">{brand}</div>
          <p class="trouble" id="message" role="alert">
            {trouble}
          </p>
          {scriptNeeded && (
            <>
              <noscript>
                <p class="note">{scriptNeeded}</p>
              </noscript>
              <ScriptLate />
            </>
          )}
          {children}
        </div>
      </main>
      <Foot links={links} locale={locale} />
    </Trouble.Provider>
  );
}

/** Shown by its style alone, since it is for a script that is late, lost or blocked. */
function ScriptLate() {
  const text = useTexts();
  return (
    <p class="note script-late" id="script-late" role="alert">
      {text('signin.scriptLate')} <a href="">{text('signin.loadAgain')}</a>
    </p>
  );
}

export function Foot({ links, locale }: Pick<FrameProps, 'links' | 'locale'>) {
  const text = useTexts();
  const kinds = ['terms', 'privacy', 'imprint'] as const;
  return (
    <footer>
      {kinds.map((kind) => {
        const url = links?.[kind];
        return url ? (
          <a key={kind} href={url} target="_blank" rel="noreferrer">
            {text(`signin.${kind}`)}
          </a>
        ) : null;
      })}
      {locale && <LanguageSwitch locale={locale} />}
      <span class="product" translate={false}>
        <GateMark />
        Gatehouse
      </span>
    </footer>
  );
}
