/** Search index of the documentation: guides, their sections, and operations. */
import type { Operation } from '../../http/operation.ts';
import { documented } from '../description/openapi.ts';
import { pathTemplate } from '../description/mounted.ts';
import type { Guide } from './guides.ts';
import type { GuideHeading } from './markdown.ts';
import { referencePath } from './reference-path.ts';

interface Findable {
  readonly title: string;
  /** The guide of a section, or the kind of entry. */
  readonly place: string;
  readonly href: string;
  readonly words?: string;
}

export function searchIndex(
  guides: readonly (Guide & { readonly sections: readonly GuideHeading[] })[],
  operations: readonly Operation[],
): Findable[] {
  const ofGuides = guides.flatMap(({ slug, title, summary, sections }) => {
    const href = `/docs/guides/${slug}`;
    return [
      { title, place: 'Guide', href, words: summary },
      ...sections.map((section) => ({ title: section.title, place: title, href: `${href}#${section.id}` })),
    ];
  });
  const ofOperations = documented(operations).map((operation) => ({
    title: operation.summary,
    place: `${operation.method} ${pathTemplate(operation)}`,
    href: referencePath(operation),
    words: `${operation.id} ${operation.tag}`,
  }));
  return [...ofGuides, ...ofOperations];
}
