/** Routes of the documentation: overview, guides as HTML and Markdown, their pictures, API reference and search index. */
import { AppError } from '../../core/error.ts';
import { answerTagged, type Tagged, tagged } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageHeaders, type PageKind } from '../../http/page-response.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { HOSTED_PAGE } from '../hosted-page.ts';
import type { Docs } from './docs.ts';
import { renderGuide } from './guide.tsx';
import { renderOverview } from './overview.tsx';
import { renderReference } from './reference.tsx';

export interface DocsPageDependencies {
  readonly docs: Docs;
  readonly baseUrl: () => string;
}

const page = { ...HOSTED_PAGE, method: 'GET', limit: 'none' } as const;

type Content = Parameters<typeof tagged>[0];

/** Public, and revalidated before each use. */
const CACHE = { 'Cache-Control': 'no-cache' };

export function docsPageRoutes({ docs, baseUrl }: DocsPageDependencies): Operation[] {
  // Responses, each built on first use and kept: they cannot change while the process runs.
  const made = new Map<string, Promise<Tagged>>();

  async function cached(
    context: RequestContext,
    name: string,
    mediaType: string,
    make: () => Content | Promise<Content>,
    headers: Readonly<Record<string, string>> = CACHE,
  ): Promise<Response> {
    let one = made.get(name);
    if (!one) made.set(name, (one = Promise.resolve(make()).then((content) => tagged(content))));
    return answerTagged(context, await one, { mediaType, headers });
  }

  function html(context: RequestContext, name: string, make: () => string, kind?: PageKind): Promise<Response> {
    return cached(context, name, 'text/html', make, { ...pageHeaders(context, kind), ...CACHE });
  }

  return [
    operation({
      ...page,
      id: 'docsPage',
      path: '/docs',
      summary: 'The documentation',
      handle: ({ context }) => html(context, 'overview', () => renderOverview(docs.guides, baseUrl())),
    }),
    operation({
      ...page,
      id: 'docsReferencePage',
      path: '/docs/reference',
      summary: 'The API reference, to be tried against this instance',
      handle: ({ context }) =>
        html(context, 'reference', () => renderReference(docs.guides, docs.referenceOutline()), 'styled'),
    }),
    operation({
      ...page,
      id: 'docsSearchIndex',
      path: '/docs/search.json',
      summary: 'What the search of the documentation finds',
      handle: ({ context }) => cached(context, 'search', 'application/json', docs.searchIndex),
    }),
    operation({
      ...page,
      id: 'docsGuidePage',
      path: '/docs/guides/:slug',
      summary: 'A guide; as Markdown where .md follows',
      handle({ context, params }) {
        const slug = params.slug.replace(/\.md$/, '');
        const index = docs.guides.findIndex((guide) => guide.slug === slug);
        const entry = docs.guides[index];
        if (!entry) throw new AppError('not_found');
        if (slug !== params.slug) return cached(context, params.slug, 'text/markdown', () => docs.markdownOf(slug));
        return html(context, slug, () =>
          renderGuide({
            entry,
            content: docs.contentOf(slug),
            guides: docs.guides,
            previous: docs.guides[index - 1],
            next: docs.guides[index + 1],
          }),
        );
      },
    }),
    operation({
      ...page,
      id: 'docsPicture',
      path: '/docs/guides/images/:name',
      summary: 'A picture of a guide',
      handle({ context, params: { name } }) {
        const path = docs.pictures.get(name);
        if (path === undefined) throw new AppError('not_found');
        return cached(context, name, 'image/webp', () => Bun.file(path).bytes());
      },
    }),
    operation({
      ...page,
      id: 'llmsText',
      path: '/llms.txt',
      summary: 'The documentation’s contents, for programs that read (llmstxt.org)',
      handle: ({ context }) => cached(context, 'llms.txt', 'text/plain', () => docs.llmsText()),
    }),
  ];
}
