/** The OpenAPI description, derived from the operations' own declarations. */
import { yieldIfLong } from '../../core/event-loop.ts';
import type { Operation } from '../../http/operation.ts';
import { ACCESS_EXPLAINED, ACCESS_SENTENCES, SECURITY, securitySchemes, USUAL_SECURITY } from './access.ts';
import { requestBodyOf, successesOf } from './bodies.ts';
import { Components } from './components.ts';
import { eventDescriptions } from './events.ts';
import { failuresOf, refusalList, refusalSentence } from './failures.ts';
import { HEADERS_EXPLAINED } from './headers.ts';
import { withoutObvious } from './left-out.ts';
import { type DescribedOperation, mountedDocument } from './mounted.ts';
import { describedParameters } from './parameters.ts';
import { type DescriptionPart, operationsInPart, PARTS_EXPLAINED } from './parts.ts';
import { shareRepeated } from './repeated.ts';
import { withSharedSchemas } from './shared-schemas.ts';

export const API_VERSION = '1.0.0';

const BODIES_EXPLAINED = 'A request body with an unknown property is refused as `invalid_request`.';

const TAGS: Record<string, string> = {
  'Sign-in': 'Sign-in methods: codes, passkeys, identity providers.',
  Verification: 'Verification of sessions and keys, for backends.',
  Account: 'Self-service: what people see and change about themselves.',
  OAuth: 'OpenID Connect and OAuth 2.0, for clients and their libraries.',
  'Device grant': 'Device grant for command-line tools and other devices (RFC 8628).',
  Applications: 'Applications, the tenants of the service.',
  Lifecycle: 'Archiving, deleting and hiding an application, each behind a code sent by mail.',
  Activity: 'Audit log: what happened, and who did it.',
  Webhooks: 'Events, signed and delivered at least once.',
  'API keys': 'Credentials for backends and agents.',
  'Beta access': 'The sign-in gate and its allowlist.',
  'Identity provider': 'OpenID Connect providers for sign-in.',
  Roles: 'Roles of people in an application.',
  Scopes: 'Scopes: what people may do in an application.',
  'Membership groups': 'Membership groups of people.',
  Users: 'Users of an application.',
  Workspace: 'Workspaces and their members, who manage the applications.',
  Setup: 'The first owner, and recovery.',
  Texts: 'Texts of the hosted pages and mails, in every language.',
  Descriptions: 'Machine-readable descriptions of this API.',
  Operation: 'Health and metrics, for supervisors and load balancers.',
};

/** Builds the document, yielding to the event loop. @param baseUrl determines only the cookie's name. */
export async function openApiDocument(
  operations: readonly Operation[],
  baseUrl: string,
  part: DescriptionPart = 'application',
): Promise<object> {
  const components = new Components();
  const inFull: DescribedOperation[] = [];
  for (const operation of documentedIn(part, operations)) {
    inFull.push({ operation, detail: describe(operation, components, part) });
    await yieldIfLong();
  }
  const described = await shareRepeated(inFull, components);
  const webhooks = eventDescriptions(components);
  await yieldIfLong();
  const names = [...new Set(described.map(({ operation }) => operation.tag))];
  const { openapi, info, servers, tags, paths } = await mountedDocument(described, {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version: API_VERSION,
      description: `Sign-in, session verification and user management.${part === 'all' ? '' : ` ${PARTS_EXPLAINED}`}\n\n${ACCESS_EXPLAINED}\n\n${BODIES_EXPLAINED}\n\n${HEADERS_EXPLAINED}`,
      contact: { name: 'Gatehouse' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this description was fetched from.' }],
    tags: names.map((name) => ({ name, description: tagSentence(name) })),
  });
  return withSharedSchemas(
    withoutObvious({
      openapi,
      info,
      servers,
      security: USUAL_SECURITY,
      tags,
      paths,
      webhooks,
      components: { securitySchemes: securitySchemes(baseUrl), ...components.sorted() },
    }),
  );
}

/** Returns what a tag's operations are about, in a sentence. */
export function tagSentence(tag: string): string {
  return TAGS[tag] ?? tag;
}

/** Returns the operations of the API, without pages and test endpoints. */
export function documented(operations: readonly Operation[]): Operation[] {
  return operations.filter((operation) => !operation.isUndocumented);
}

/** Returns an operation's description with its access and its own errors in words, as Markdown. */
export function operationText(operation: Operation): string {
  const { description, access } = operation;
  return [description, ACCESS_SENTENCES[access], refusalList(operation)].filter(Boolean).join('\n\n');
}

/** Returns its description and its own error codes. `security` has the access of all but management. */
function shortText(operation: Operation): string | undefined {
  const { description, access } = operation;
  const isManagement = access === 'read' || access === 'full';
  const texts = [description, isManagement && ACCESS_SENTENCES[access], refusalSentence(operation)].filter(Boolean);
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** Returns the operations that a part of the description has. */
function documentedIn(part: DescriptionPart, operations: readonly Operation[]): readonly Operation[] {
  return operationsInPart(part, documented(operations));
}

function describe(operation: Operation, components: Components, part: DescriptionPart): DescribedOperation['detail'] {
  const { id, summary, tag, access } = operation;
  const parameters = describedParameters(operation, components);
  return {
    operationId: id,
    summary,
    description: part === 'all' ? operationText(operation) : shortText(operation),
    tags: [tag],
    ...(SECURITY[access] !== USUAL_SECURITY && { security: SECURITY[access] }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(operation, components),
    responses: { ...successesOf(operation, components), ...failuresOf(operation, components) },
  };
}
