/** The OpenAPI description and the role manifest, derived from the operations' own declarations. */
import { swagger } from '@elysiajs/swagger';
import type { TObject, TSchema } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error.ts';
import { EVENT_SCHEMAS, EVENT_TYPES } from '../../core/event.ts';
import { only } from '../../core/required.ts';
import { SECRET_PREFIXES } from '../../core/secret.ts';
import { verifyCodeField } from '../../http/errors.ts';
import { describeLimitClass, type LimitSettings } from '../../http/limits.ts';
import { type AccessRule, isList, type Operation, WORKSPACE_PARAMETER } from '../../http/operation.ts';
import { sessionCookieName } from '../../http/session-cookie.ts';
import { FORM_TYPE, UPLOAD_FIELD, type UploadRule } from '../../http/upload.ts';

/** Version of the REST API, as the contract declares it. */
const API_VERSION = '1.0.0';

const ACCESS_SENTENCES: Record<AccessRule, string> = {
  none: 'No authentication.',
  session: 'Needs the session of a signed-in person; an API key is refused.',
  person: 'Needs the session of a signed-in person, or their personal key.',
  token: 'Authenticated by the session token itself, sent as the bearer.',
  key: 'Needs an API key, Read or Full.',
  read: 'Needs an API key or a console session.',
  full: 'Admin: needs a Full API key, or a console session of an owner or admin.',
};

const SECURITY: Record<AccessRule, Record<string, string[]>[]> = {
  none: [],
  session: [{ sessionToken: [] }, { sessionCookie: [] }],
  person: [{ sessionToken: [] }, { sessionCookie: [] }, { apiKey: [] }],
  token: [{ sessionToken: [] }],
  key: [{ apiKey: [] }],
  read: [{ apiKey: [] }, { sessionToken: [] }, { sessionCookie: [] }],
  full: [{ apiKey: [] }, { sessionToken: [] }, { sessionCookie: [] }],
};

const TAGS: Record<string, string> = {
  'Sign-in': 'How people come in.',
  Verification: 'How a backend learns who is calling.',
  Account: 'What people see and change about themselves.',
  'Device grant': 'How command-line tools and other devices sign in (RFC 8628).',
  Applications: 'The tenants of the service.',
  Lifecycle: 'Archiving, deleting and hiding an application, each behind a code sent by mail.',
  Activity: 'What happened, and who did it.',
  Webhooks: 'Events, signed and delivered at least once.',
  'API keys': 'Credentials for backends and agents.',
  'Beta access': 'The sign-in gate and its allowlist.',
  'Identity provider': 'Which OpenID Connect provider people sign in through.',
  Roles: 'What a person is in an application.',
  Scopes: 'What a person may do in an application.',
  'Membership groups': 'Which groups a person belongs to.',
  Users: 'The people of an application.',
  Workspace: 'Who runs the applications.',
  Setup: 'The first owner, and recovery.',
  Descriptions: 'The API about itself.',
  Operation: 'For supervisors and load balancers.',
};

/** Schemas that stand under `components` and are referred to by name, as they are met. */
type Components = Record<string, object>;

/** The document as an object. Built through Elysia's plugin on an instance that serves nothing else. */
export async function openApiDocument(
  operations: readonly Operation[],
  baseUrl: string,
  limits: LimitSettings,
): Promise<object> {
  const schemas: Components = { ApiError: ERROR_SCHEMA };
  const described = documented(operations).map((operation) => ({
    operation,
    detail: describe(operation, schemas, limits),
  }));
  const tags = [...new Set(described.map(({ operation }) => operation.tag))];
  const app = new Elysia().use(
    swagger({
      specPath: '/document',
      excludeStaticFile: false,
      exclude: ['/document', '/swagger'],
      documentation: {
        openapi: '3.1.0',
        info: {
          title: 'Gatehouse',
          version: API_VERSION,
          description: 'Sign-in, session verification and user management.',
          license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        },
        servers: [{ url: baseUrl }],
        webhooks: eventDescriptions(schemas),
        tags: tags.map((name) => ({ name, description: TAGS[name] ?? name })),
        components: {
          securitySchemes: {
            apiKey: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: `${SECRET_PREFIXES.apiKey}_…`,
              description: `An API key, \`${SECRET_PREFIXES.apiKey}_…\`.`,
            },
            sessionToken: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: `${SECRET_PREFIXES.session}_…`,
              description: `An end-user session token, \`${SECRET_PREFIXES.session}_…\`.`,
            },
            sessionCookie: {
              type: 'apiKey',
              in: 'cookie',
              name: sessionCookieName(baseUrl),
              description: 'The same, as the cookie of the pages of this server, and from these alone.',
            },
          },
          headers: HEADERS,
          examples: errorExamples(),
          schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => a.localeCompare(b))) as never,
        },
      } as never,
    }),
  );
  for (const { operation, detail } of described)
    app.route(operation.method, operation.path, () => null, { detail: detail as never });
  const response = await app.handle(new Request('http://localhost/document'));
  return (await response.json()) as object;
}

/** What an endpoint is sent, by event type (OpenAPI 3.1 `webhooks`). */
function eventDescriptions(components: Components): Record<string, object> {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `on.${type}`,
          summary: `Event ${type}`,
          description:
            'Signed in `Svc-Signature: t=<unix_ts>,v1=<hex>`: HMAC-SHA256 of `<t>.<rawBody>` with the signing secret. Delivered at least once: deduplicate by `Svc-Event-Id`. Answer 2xx within 15 seconds.',
          tags: ['Webhooks'],
          security: [],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['id', 'type', 'createdAt', 'applicationId', 'data'],
                  properties: {
                    id: { type: 'string' },
                    type: { type: 'string', const: type },
                    createdAt: { type: 'string', format: 'date-time' },
                    applicationId: { type: 'string' },
                    data: plain(EVENT_SCHEMAS[type], components),
                  },
                },
              },
            },
          },
          responses: {
            200: { description: 'Accepted.' },
            410: { description: 'Never again: quarantines the endpoint.' },
          },
        },
      },
    ]),
  );
}

function documented(operations: readonly Operation[]): Operation[] {
  return operations.filter((operation) => !operation.isUndocumented);
}

function describe(operation: Operation, components: Components, limits: LimitSettings): object {
  const { id, summary, description, tag, access, limit, query, body, isBodyOptional, upload } = operation;
  return {
    operationId: id,
    summary,
    description: [description, ACCESS_SENTENCES[access], `Limit: ${describeLimitClass(limit, limits)}.`]
      .filter(Boolean)
      .join('\n\n'),
    tags: [tag],
    security: SECURITY[access],
    parameters: [
      ...pathParameters(operation),
      ...(operation.scope === 'workspace' ? [WORKSPACE_PARAMETER_SCHEMA] : []),
      ...(query ? queryParameters(query, components) : []),
    ],
    ...(body && {
      requestBody: {
        required: !isBodyOptional,
        content: Object.fromEntries(
          mediaTypes(operation).map((mediaType) => [mediaType, { schema: plain(body, components) }]),
        ),
      },
    }),
    ...(upload && { requestBody: { required: true, content: fileContent(upload) } }),
    responses: {
      ...(operation.isRedirect ? { 302: REDIRECT } : { 200: success(operation, components) }),
      ...failures(operation),
    },
  };
}

function mediaTypes({ isFormAccepted }: Operation): string[] {
  return ['application/json', ...(isFormAccepted ? ['application/x-www-form-urlencoded'] : [])];
}

const REDIRECT = {
  description: 'The browser is sent on.',
  headers: { Location: { required: true, schema: { type: 'string', format: 'uri' } } },
};

const BINARY = { type: 'string', format: 'binary' };

/** A file as it is, or as the one field of a form. */
function fileContent({ mediaTypes }: UploadRule): Record<string, object> {
  const form = { type: 'object', required: [UPLOAD_FIELD], properties: { [UPLOAD_FIELD]: BINARY } };
  return {
    ...Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: BINARY }])),
    [FORM_TYPE]: { schema: form },
  };
}

function success({ data, mediaType, limit, style = 'envelope' }: Operation, components: Components): object {
  const headers = headersOf(limit === 'none' ? [] : RATE_LIMIT);
  if (mediaType) {
    const schema = mediaType.startsWith('image/') ? BINARY : { type: 'string' };
    return { description: 'Success.', ...headers, content: { [mediaType]: { schema } } };
  }
  const schema = data ? plain(data, components) : { type: 'object' };
  const wrapped = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { type: 'boolean', const: true }, data: schema },
  };
  return {
    description: 'Success.',
    ...headers,
    content: { 'application/json': { schema: style === 'envelope' ? wrapped : schema } },
  };
}

const integer = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** Headers of answers, referred to by name. */
const HEADERS = {
  'Retry-After': integer('Seconds to wait before trying again.'),
  'RateLimit-Limit': integer('Calls that the tightest limit allows in its window.'),
  'RateLimit-Remaining': integer('Calls left in this window.'),
  'RateLimit-Reset': integer('Seconds until the window ends.'),
  'WWW-Authenticate': { description: 'Which credential is asked for.', schema: { type: 'string', const: 'Bearer' } },
} as const;

type HeaderName = keyof typeof HEADERS;

const RATE_LIMIT: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const CHALLENGE: readonly HeaderName[] = ['WWW-Authenticate'];
/** What the statuses that ask for patience say of it. */
const WAITS: Readonly<Record<number, readonly HeaderName[]>> = {
  429: ['Retry-After', ...RATE_LIMIT],
  503: ['Retry-After'],
};

/** As a response has them, or nothing. */
function headersOf(names: readonly HeaderName[]): { headers?: Record<string, object> } {
  if (names.length === 0) return {};
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

/** Every refusal an operation can answer with: its own, and those that follow from its access, limit and schemas. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const { access, scope, limit, body, query, upload, style, errors = [] } = operation;
  const codes: ErrorCode[] = [...errors];
  if (access === 'token') codes.push('invalid_token', 'revoked', 'expired', 'membership_blocked');
  else if (access === 'key') codes.push('invalid_api_key', 'forbidden');
  else if (access !== 'none') codes.push('unauthenticated');
  if (access === 'session' || access === 'person') codes.push('forbidden', 'membership_blocked');
  if (access === 'read' || access === 'full') codes.push('forbidden', 'membership_blocked');
  if (access === 'full') codes.push('admin_scope_required');
  if (scope !== 'instance') codes.push('not_found');
  if (body || query || upload || isList(operation)) codes.push('invalid_request');
  if (body || upload) codes.push('payload_too_large', 'unsupported_media_type');
  if (upload) codes.push('request_timeout', 'unavailable');
  if (limit !== 'none') codes.push('rate_limited');
  if (style !== 'page') codes.push('internal');
  return [...new Set(codes)];
}

const FIELDS_SCHEMA = {
  type: 'array',
  description: 'What to mend; with 400 only.',
  items: {
    type: 'object',
    required: ['path', 'message'],
    properties: { path: { type: 'string', examples: ['emails.3'] }, message: { type: 'string' } },
  },
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['success', 'error', 'message', 'requestId'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', enum: Object.keys(ERROR_CATALOGUE) },
    message: { type: 'string', description: 'One sentence that says what to do.' },
    requestId: { type: 'string' },
    fields: FIELDS_SCHEMA,
  },
};

/** Failure bodies other than the envelope: the verification endpoints' own, and OAuth's (RFC 6749 §5.2). */
const FLAT_FAILURES = {
  session: { flag: 'ok', code: 'error', text: 'message' },
  verify: { flag: 'success', code: 'errorMessage', text: 'message' },
  oauth: { flag: null, code: 'error', text: 'error_description' },
} as const;

function failures({ style = 'envelope', ...operation }: Operation): Record<string, object> {
  const byStatus = Map.groupBy(errorCodesOf({ style, ...operation }), (code) => ERROR_CATALOGUE[code].status);
  const own = style in FLAT_FAILURES ? FLAT_FAILURES[style as keyof typeof FLAT_FAILURES] : null;
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const names = own && style === 'verify' ? { ...own, code: only([...new Set(codes.map(verifyCodeField))]) } : own;
      const schema = names
        ? {
            type: 'object',
            required: [...(names.flag ? [names.flag] : []), names.code],
            properties: {
              ...(names.flag && { [names.flag]: { type: 'boolean', const: false } }),
              [names.code]: { type: 'string', enum: codes },
              [names.text]: { type: 'string' },
              requestId: { type: 'string' },
              ...(status === 400 && names.flag && { fields: FIELDS_SCHEMA }),
            },
          }
        : { $ref: '#/components/schemas/ApiError' };
      const examples = Object.fromEntries(
        codes.map((code) => [
          code,
          names ? { value: failureExample(code, names) } : { $ref: `#/components/examples/${code}` },
        ]),
      );
      const description = codes.map((code) => `\`${code}\``).join(', ');
      const headers = headersOf([...(style === 'page' || status !== 401 ? [] : CHALLENGE), ...(WAITS[status] ?? [])]);
      if (style === 'page')
        return [status, { description, ...headers, content: { 'text/html': { schema: { type: 'string' } } } }];
      return [status, { description, ...headers, content: { 'application/json': { schema, examples } } }];
    }),
  );
}

interface FailureNames {
  readonly flag: string | null;
  readonly code: string;
  readonly text: string;
}

const ENVELOPE_NAMES: FailureNames = { flag: 'success', code: 'error', text: 'message' };

function failureExample(error: ErrorCode, { flag, code, text }: FailureNames): object {
  return {
    ...(flag && { [flag]: false }),
    [code]: error,
    [text]: ERROR_CATALOGUE[error].message,
    requestId: 'req_…',
  };
}

/** One example a code, shared by all operations. */
function errorExamples(): Record<string, { value: object }> {
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
  return Object.fromEntries(codes.map((code) => [code, { value: failureExample(code, ENVELOPE_NAMES) }]));
}

/** Every operation on a workspace takes it. */
const WORKSPACE_PARAMETER_SCHEMA = {
  name: WORKSPACE_PARAMETER,
  in: 'query',
  required: false,
  description: 'For members of several workspaces; by default the first.',
  schema: { type: 'string' },
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'The id of the application, `app_…`.',
  appSlug: 'The slug of the application.',
  userId: 'The id of the person, `usr_…`, as verification gives it.',
  keyId: 'The id of the key, not the key itself.',
};

function pathParameters({ path }: Operation): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[`${name}`] ?? 'The `id` of what is meant, as its list gives it.',
    schema: { type: 'string' },
  }));
}

function queryParameters(query: TObject, components: Components): object[] {
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema: plain(schema, components),
  }));
}

/** A schema as JSON Schema (OpenAPI 3.1): our own keywords go, and what has an `$id` is referred to by it. */
function plain(schema: TSchema, components: Components): object {
  return convert(JSON.parse(JSON.stringify(schema)), components) as object;
}

function convert(node: unknown, components: Components): unknown {
  if (Array.isArray(node)) return node.map((item) => convert(item, components));
  if (typeof node !== 'object' || node === null) return node;
  const { remedy: _, isAnyText: __, $id, ...others } = node as Record<string, unknown>;
  // The words say it all; generators of clients stumble over a pattern beside them.
  const { pattern: ___, ...wordsAlone } = others;
  const rest = Array.isArray(others['enum']) ? wordsAlone : others;
  const converted = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, convert(value, components)]));
  if (typeof $id !== 'string') return converted;
  components[$id] = converted;
  return { $ref: `#/components/schemas/${$id}` };
}

/** Which principal each operation needs and how it is limited, for agents and their tool server. */
export function roleManifest(operations: readonly Operation[], limits: LimitSettings) {
  const described = documented(operations);
  const classes = new Set(described.map(({ limit }) => limit));
  return {
    version: API_VERSION,
    limits: Object.fromEntries([...classes].map((name) => [name, describeLimitClass(name, limits)])),
    operations: described.map(({ id, method, path, access, consoleRole, limit }) => ({
      operationId: id,
      method,
      path: path.replace(/:(\w+)/g, '{$1}'),
      access: access === 'token' || access === 'person' ? 'session' : access === 'key' ? 'read' : access,
      ...(consoleRole && { consoleRole }),
      limit,
    })),
  };
}
