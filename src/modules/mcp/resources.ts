/** The MCP resources: the guides, and the server's public descriptions. */
import type { InternalCalls } from '../../http/internal-calls.ts';
import type { Operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { guideMarkdown, GUIDES } from '../docs/guides.ts';
import { ProtocolError } from './protocol.ts';

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly mimeType: string;
}

export interface McpResources {
  list(): Resource[];
  /** @throws {ProtocolError} */
  read(uri: string, context: RequestContext): Promise<object>;
}

export interface ResourceDependencies {
  readonly baseUrl: () => string;
  readonly internal: Pick<InternalCalls, 'call'>;
  readonly operations: () => readonly Operation[];
}

/** Media types of the public descriptions, by path. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '/llms.txt': 'text/plain',
  '/openapi.yaml': 'application/yaml',
  '/openapi.roles.json': 'application/json',
};

const NOT_FOUND = -32002;

export function mcpResources({ baseUrl, internal, operations }: ResourceDependencies): McpResources {
  const guideUri = (slug: string) => `${baseUrl()}/docs/guides/${slug}`;
  const pages = () =>
    operations().flatMap(({ method, access, path, summary }) => {
      const mimeType = MEDIA_TYPES[path];
      const isOpen = method === 'GET' && access === 'none';
      return isOpen && mimeType !== undefined ? [{ path, summary, mimeType, uri: `${baseUrl()}${path}` }] : [];
    });

  return {
    list: () => [
      ...pages().map(({ path, summary, ...page }) => ({
        uri: page.uri,
        name: path.slice(1),
        title: summary,
        mimeType: page.mimeType,
      })),
      ...GUIDES.map(({ slug, title, summary }) => ({
        uri: guideUri(slug),
        name: slug,
        title,
        description: summary,
        mimeType: 'text/markdown',
      })),
    ],
    async read(uri, context) {
      const guide = GUIDES.find(({ slug }) => guideUri(slug) === uri);
      if (guide) return contents(uri, 'text/markdown', guideMarkdown(guide, baseUrl()));
      const page = pages().find((one) => one.uri === uri);
      if (!page) throw new ProtocolError(NOT_FOUND, 'There is nothing to read at that address; see resources/list.');
      const response = await internal.call(context, { method: 'GET', path: page.path });
      return contents(uri, page.mimeType, await response.text());
    },
  };
}

function contents(uri: string, mimeType: string, text: string): object {
  return { contents: [{ uri, mimeType, text }] };
}
