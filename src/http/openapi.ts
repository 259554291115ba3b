/** The OpenAPI description and the role manifest, derived from the operations' own declarations. */
import { swagger } from '@elysiajs/swagger';
import type { TObject, TSchema } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { ERROR_CATALOGUE, type ErrorCode } from '../core/error.ts';
import { LIMIT_CLASSES } from './limits.ts';
import type { AccessRule, Operation } from './operation.ts';

/** Version of the REST API, as the contract declares it. */
export const API_VERSION = '1.0.0';

const ACCESS_SENTENCES: Record<AccessRule, string> = {
  none: 'No authentication.',
  session: 'Needs the session of a signed-in person.',
  token: 'Authenticated by the session token itself, sent as the bearer.',
  key: 'Needs an API key, Read or Full.',
  read: 'Needs an API key or a console session.',
  full: 'Admin: needs a Full API key, or a console session of an owner or admin.',
};

const SECURITY: Record<AccessRule, Record<string, string[]>[]> = {
  none: [],
  session: [{ sessionToken: [] }],
  token: [{ sessionToken: [] }],
  key: [{ apiKey: [] }],
  read: [{ apiKey: [] }, { sessionToken: [] }],
  full: [{ apiKey: [] }, { sessionToken: [] }],
};

/** The document as an object. Built through Elysia's plugin on an instance that serves nothing else. */
export async function openApiDocument(operations: readonly Operation[], baseUrl: string): Promise<object> {
  const app = new Elysia().use(
    swagger({
      specPath: '/document',
      excludeStaticFile: false,
      exclude: ['/document', '/swagger'],
      documentation: {
        openapi: '3.0.3',
        info: {
          title: 'Gatehouse',
          version: API_VERSION,
          description: 'Sign-in, session verification and user management.',
          license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        },
        servers: [{ url: baseUrl }],
        tags: [...new Set(documented(operations).map(({ tag }) => tag))].map((name) => ({ name })),
        components: {
          securitySchemes: {
            apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `eak_…`.' },
            sessionToken: { type: 'http', scheme: 'bearer', description: 'An end-user session token, `est_…`.' },
          },
        },
      },
    }),
  );
  for (const operation of documented(operations))
    app.route(operation.method, operation.path, () => null, { detail: describe(operation) as never });
  const response = await app.handle(new Request('http://localhost/document'));
  return (await response.json()) as object;
}

function documented(operations: readonly Operation[]): Operation[] {
  return operations.filter((operation) => !operation.isUndocumented);
}

function describe(operation: Operation): object {
  const { id, summary, description, tag, access, limit, query, body, isBodyOptional } = operation;
  return {
    operationId: id,
    summary,
    description: [description, ACCESS_SENTENCES[access], `Limit: ${LIMIT_CLASSES[limit]}.`]
      .filter(Boolean)
      .join('\n\n'),
    tags: [tag],
    security: SECURITY[access],
    parameters: [...pathParameters(operation), ...(query ? queryParameters(query) : [])],
    ...(body && {
      requestBody: { required: !isBodyOptional, content: { 'application/json': { schema: plain(body) } } },
    }),
    responses: { 200: success(operation), ...failures(operation) },
  };
}

function success({ data, style = 'envelope' }: Operation): object {
  const schema = data ? plain(data) : { type: 'object' };
  const isWrapped = style === 'envelope';
  return {
    description: 'Success.',
    content: {
      'application/json': {
        schema: isWrapped
          ? {
              type: 'object',
              required: ['success', 'data'],
              properties: { success: { type: 'boolean', enum: [true] }, data: schema },
            }
          : schema,
      },
    },
  };
}

/** Every refusal an operation can answer with: its own, and those that follow from its access, limit and schemas. */
export function errorCodesOf({ access, scope, limit, body, query, style, errors = [] }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = [...errors];
  if (access === 'token') codes.push('invalid_token', 'revoked', 'expired', 'membership_blocked');
  else if (access === 'key') codes.push('invalid_api_key');
  else if (access !== 'none') codes.push('unauthenticated');
  if (access === 'session') codes.push('membership_blocked');
  if (access === 'read' || access === 'full') codes.push('forbidden', 'membership_blocked');
  if (access === 'full') codes.push('admin_scope_required');
  if (scope === 'application') codes.push('not_found');
  if (body || query) codes.push('invalid_request');
  if (body) codes.push('payload_too_large', 'unsupported_media_type');
  if (limit !== 'none') codes.push('rate_limited');
  if (style !== 'page') codes.push('internal');
  return [...new Set(codes)];
}

function failures(operation: Operation): Record<string, object> {
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => ERROR_CATALOGUE[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].message}`).join('\n\n'),
        content: { 'application/json': { schema: failureBody(operation, codes) } },
      },
    ]),
  );
}

function failureBody({ style = 'envelope' }: Operation, codes: readonly ErrorCode[]): object {
  const code = { type: 'string', enum: codes };
  const flag = { type: 'boolean', enum: [false] };
  const rest = {
    message: { type: 'string', description: 'One sentence that says what to do.' },
    requestId: { type: 'string' },
    ...(codes.some((entry) => ERROR_CATALOGUE[entry].status === 400) && {
      fields: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: { path: { type: 'string', example: 'emails.3' }, message: { type: 'string' } },
        },
      },
    }),
  };
  if (style === 'session')
    return { type: 'object', required: ['ok', 'error'], properties: { ok: flag, error: code, ...rest } };
  if (style === 'verify')
    return {
      type: 'object',
      required: ['success', 'errorMessage'],
      properties: { success: flag, errorMessage: code, ...rest },
    };
  return {
    type: 'object',
    required: ['success', 'error', 'message', 'requestId'],
    properties: { success: flag, error: code, ...rest },
  };
}

function pathParameters({ path }: Operation): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: TObject): object[] {
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema: plain(schema),
  }));
}

/** A schema as OpenAPI 3.0 writes it: our own keyword goes, `null` becomes `nullable`, one of `examples` an `example`. */
function plain(schema: TSchema): object {
  return convert(JSON.parse(JSON.stringify(schema))) as object;
}

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert);
  if (typeof node !== 'object' || node === null) return node;
  const { remedy: _, examples, ...rest } = node as Record<string, unknown>;
  const example = Array.isArray(examples) ? { example: examples[0] } : {};
  if (Array.isArray(rest['anyOf'])) {
    const options = rest['anyOf'] as Record<string, unknown>[];
    const values = options.filter((option) => option['type'] !== 'null');
    if (values.length === 1 && values.length < options.length) {
      const { anyOf: __, ...outer } = rest;
      return { ...(convert(values[0]) as object), ...outer, ...example, nullable: true };
    }
  }
  return { ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, convert(value)])), ...example };
}

/** Which principal each operation needs and how it is limited, for agents and their tool server. */
export function roleManifest(operations: readonly Operation[]) {
  return {
    version: API_VERSION,
    operations: documented(operations).map(({ id, method, path, access, limit }) => ({
      operationId: id,
      method,
      path: path.replace(/:(\w+)/g, '{$1}'),
      access: access === 'token' ? 'session' : access === 'key' ? 'read' : access,
      limit,
    })),
  };
}
