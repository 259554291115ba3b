import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Texts } from '../../i18n/texts.ts';

const TextsContext = createContext<Texts | null>(null);

export function TextsProvider({ texts, children }: { texts: Texts; children: ComponentChildren }) {
  return <TextsContext.Provider value={texts}>{children}</TextsContext.Provider>;
}

/** @throws outside a page. */
export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (!texts) throw new Error('there are no words here: the component stands outside a page');
  return texts;
}
