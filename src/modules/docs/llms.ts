/** Table of contents of the documentation for language models (llmstxt.org). */
import type { Guide } from './guides.ts';

export function llmsText(guides: readonly Guide[], url: string): string {
  return [
    '# Gatehouse',
    '',
    '> Sign-in, session verification and user management in one server: e-mail codes, passkeys and providers; API keys with limits; applications with their own users, roles, scopes and groups; webhooks.',
    '',
    `This is the documentation of the instance at ${url}.`,
    '',
    '## Guides',
    '',
    ...guides.map(({ slug, title, summary }) => `- [${title}](${url}/docs/guides/${slug}.md): ${summary}`),
    '',
    '## Reference',
    '',
    `- [OpenAPI description](${url}/openapi.yaml): what applications build on, with bodies, answers and errors; every operation with ?part=all; also as ${url}/openapi.json`,
    `- [Role manifest](${url}/openapi.roles.json): which principal each operation needs, and what limits it`,
    `- [Authorization server metadata](${url}/.well-known/oauth-authorization-server): endpoints for OAuth clients (RFC 8414)`,
    '',
  ].join('\n');
}
