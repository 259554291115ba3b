import { type ComponentType, hydrate } from 'preact';
import { createTexts } from '../../i18n/texts.ts';
import { TextsProvider } from '../components/texts.tsx';
import type { PageData } from '../page-data.ts';

/**
 * Hydrates the page and marks the document as ready, which hides the note about a late script.
 *
 * @param Page component that the server rendered; its props are in the document.
 */
export function hydratePage<Props>(Page: ComponentType<Props>): void {
  const root = document.getElementById('page');
  const block = document.getElementById('page-data')?.textContent;
  if (!root || !block) throw new Error('this document is no page of ours');
  const { locale, messages, props } = JSON.parse(block) as PageData;
  const known = props as Props & object;
  hydrate(
    <TextsProvider texts={createTexts(locale, messages)}>
      <Page {...known} />
    </TextsProvider>,
    root,
  );
  document.documentElement.dataset['ready'] = '';
}
