/** The documentation: its overview, guides as pages and as Markdown, the API reference, and what the search reads. */
import { AppError } from '../../core/error.ts';
import { matchesEtag } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageHeaders, pageHeadersWithStyles } from '../../http/page-response.ts';
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

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };
const MARKDOWN = { 'Content-Type': 'text/markdown; charset=utf-8' };
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

interface Made {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export function docsPageRoutes({ docs, baseUrl }: DocsPageDependencies): Operation[] {
  // Each is made at the first call, for good: it cannot change while the process runs.
  const made = new Map<string, Promise<Made>>();

  async function answer(
    context: RequestContext,
    name: string,
    headers: Record<string, string>,
    make: () => string | Promise<string>,
  ): Promise<Response> {
    let one = made.get(name);
    if (!one) made.set(name, (one = asMade(make)));
    const { bytes, etag } = await one;
    // The same for everybody, and asked for again before it is shown again.
    const all = { ...context.headers, ...headers, 'Cache-Control': 'no-cache', ETag: etag };
    if (matchesEtag(context.request.headers.get('if-none-match'), etag))
      return new Response(null, { status: 304, headers: all });
    return new Response(bytes, { headers: all });
  }

  return [
    operation({
      ...page,
      id: 'docsPage',
      path: '/docs',
      summary: 'The documentation',
      handle: ({ context }) =>
        answer(context, 'overview', pageHeaders(context), () => renderOverview(docs.guides, baseUrl())),
    }),
    operation({
      ...page,
      id: 'docsReferencePage',
      path: '/docs/reference',
      summary: 'The API reference, to be tried against this instance',
      handle: ({ context }) =>
        answer(context, 'reference', pageHeadersWithStyles(context), () => renderReference(docs.guides)),
    }),
    operation({
      ...page,
      id: 'docsSearchIndex',
      path: '/docs/search.json',
      summary: 'What the search of the documentation finds',
      handle: ({ context }) =>
        answer(context, 'search', JSON_TYPE, async () => JSON.stringify(await docs.searchIndex())),
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
        if (slug !== params.slug) return answer(context, params.slug, MARKDOWN, () => docs.markdownOf(slug));
        return answer(context, slug, pageHeaders(context), () =>
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
      id: 'llmsText',
      path: '/llms.txt',
      summary: 'The documentation’s contents, for programs that read (llmstxt.org)',
      handle: ({ context }) => answer(context, 'llms.txt', TEXT, () => docs.llmsText()),
    }),
  ];
}

async function asMade(make: () => string | Promise<string>): Promise<Made> {
  const bytes = new TextEncoder().encode(await make());
  return { bytes, etag: `"${Bun.hash(bytes).toString(36)}"` };
}
