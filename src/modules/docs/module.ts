/** The documentation of this instance: guides, their pictures and search index. Its pages are in src/pages/docs. */
import type { Operation } from '../../http/operation.ts';
import type { Module, ModuleContext } from '../module.ts';
import { guideMarkdown, GUIDES, type Guide } from './guides.ts';
import { llmsText } from './llms.ts';
import { renderMarkdown } from './markdown.ts';
import { PICTURES } from './pictures.ts';
import { referenceOutline } from './reference-outline.ts';
import { searchIndex } from './search-index.ts';

export function docsModule({ baseUrl }: Pick<ModuleContext, 'baseUrl'>, operations: () => readonly Operation[]) {
  const markdownOf = (slug: string) => guideMarkdown(guideAt(slug), baseUrl());
  return {
    docs: {
      guides: GUIDES,
      markdownOf,
      contentOf: (slug: string) => renderMarkdown(markdownOf(slug)),
      pictures: PICTURES,
      llmsText: () => llmsText(GUIDES, baseUrl()),
      referenceOutline: () => referenceOutline(operations()),
      searchIndex: () => searchIndex(GUIDES, operations()),
    },
  } satisfies Module & { docs: unknown };
}

function guideAt(slug: string): Guide {
  const guide = GUIDES.find((one) => one.slug === slug);
  if (!guide) throw new Error(`there is no guide ${slug}`);
  return guide;
}
